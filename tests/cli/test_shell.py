"""What the command line does for a shell: completion, colors, and how much it says."""

import click
import pytest
from click.testing import CliRunner
from tests.cli.terminal import Terminal

from phaseline.cli.command_tree import COMMANDS, root
from phaseline.cli.help_groups import GROUPS
from phaseline.cli.reference_docs import walk


def completed(terminal: Terminal, words: str) -> list[str]:
    """What is offered for the last of the words."""
    typed = words.split(" ")
    asked = {"_PHASELINE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(typed) - 1)}
    result = CliRunner().invoke(root, [], env={**terminal.environment, **asked}, prog_name="phaseline")
    lines = result.stdout.splitlines()
    return [line.partition(",")[2] for line in lines if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script(terminal: Terminal, shell: str) -> None:
    script = terminal.run("completion", shell).stdout
    assert "_PHASELINE_COMPLETE" in script
    assert terminal.ask("completion", shell)[1]["shell"] == shell


def test_commands_and_options_are_completed(terminal: Terminal) -> None:
    assert completed(terminal, "phaseline executions re") == ["rerun", "resume", "retry"]
    assert "--deployment" in completed(terminal, "phaseline executions show --dep")


def test_names_come_from_the_store(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    terminal.run("install", terminal.write(), "-d", "office")
    assert completed(terminal, "phaseline deployments show s") == ["shop"]
    for words in ("executions show", "executions start heal", "uninstall", "suspend", "plan uninstall", "plan heal"):
        assert completed(terminal, f"phaseline {words} -d of") == ["office"], words
    assert completed(terminal, "phaseline executions show ") == ["install-2", "install-1"]
    (base, _) = completed(terminal, "phaseline instances show base_")
    assert base.startswith("base_")


NEW = {"install", "adopt", "plan adopt", "deployments create", "resources apply"}
"""Commands that are told the name of what they make."""


def test_whoever_asks_for_a_deployment_offers_those_there_are() -> None:
    for path, command in walk(root, "phaseline"):
        options = [one for one in command.params if "-d" in one.opts]
        if path.removeprefix("phaseline ") not in NEW:
            assert all(one._custom_shell_complete for one in options), path


def test_without_a_store_nothing_is_offered_and_none_is_made(terminal: Terminal) -> None:
    before = sorted(terminal.folder.parent.iterdir())
    assert completed(terminal, "phaseline deployments show s") == []
    assert sorted(terminal.folder.parent.iterdir()) == before


def test_settings_that_are_none_offer_nothing(terminal: Terminal) -> None:
    (terminal.folder / "phaseline.toml").write_text("nonsense = 1")
    assert completed(terminal, "phaseline deployments show s") == []


def test_no_color_takes_the_colors_away(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    colored = CliRunner().invoke(root, ["executions", "list"], env=terminal.environment, color=True)
    plain = CliRunner().invoke(root, ["executions", "list"], env={**terminal.environment, "NO_COLOR": "1"}, color=True)
    assert "\x1b[" in colored.stdout
    assert "\x1b[" not in plain.stdout


def test_quiet_says_only_the_answer_and_problems(terminal: Terminal) -> None:
    result = terminal.run("-q", "install", terminal.write())
    assert result.stderr == ""
    assert result.stdout.startswith("install-1 of 'shop': completed")
    assert "PL-C010" in terminal.run("-q", "deployments", "show", "none").stderr


def test_verbose_tells_logs_and_events_while_they_happen(terminal: Terminal) -> None:
    told = terminal.run("-v", "install", terminal.write()).stderr.splitlines()
    assert "Starting 'install' workflow execution" in told[0]
    assert any("INFO" in line and "hello from base" in line for line in told)
    assert "'install' workflow execution succeeded" in told[-1]


def test_quiet_and_verbose_exclude_each_other(terminal: Terminal) -> None:
    assert terminal.run("-q", "-v", "version").exit_code == 2


def test_the_help_shows_what_the_help_of_each_command_begins_with() -> None:
    of = {name: text for commands in GROUPS.values() for name, text in commands.items()}
    ctx = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(ctx, name)
        assert command is not None
        assert not command.short_help, name
        assert of[name] == " ".join((command.help or "").split("\n\n")[0].split()), name


def test_the_help_shows_every_command_in_one_group(terminal: Terminal) -> None:
    told = [name for names in GROUPS.values() for name in names]
    assert sorted(told) == sorted(COMMANDS)
    shown = terminal.run("--help").stdout
    lines = [line.split() for line in shown.splitlines() if line.startswith("  ")]
    places = [next(place for place, line in enumerate(lines) if line[:1] == [name]) for name in told]
    assert places == sorted(places), "in the order of the groups"
    assert all(f"{title}:\n" in shown for title in GROUPS)
