"""How the command line answers: exit codes, one document with ``--json``, suggestions, friendly empty states."""

import json
import os
import subprocess
import sys

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

from phaseline.cli.shell.cli_context import CliContext


@pytest.mark.parametrize("noun", ["deployments", "instances", "executions"])
def test_an_empty_store_says_what_to_do(terminal: Terminal, noun: str) -> None:
    terminal.make_store()
    result = terminal.run(noun, "list")
    assert result.exit_code == 0
    assert "phaseline" in result.stdout
    assert terminal.ask(noun, "list") == (0, {noun: [], "total": 0})


def test_d27_words_that_do_not_fit_exit_with_2(terminal: Terminal) -> None:
    assert terminal.run("instal").exit_code == 2
    assert terminal.run("install").exit_code == 2
    assert terminal.run("install", "x.yaml", "-i", "novalue").exit_code == 2
    assert terminal.run("executions", "complete", "install-1").exit_code == 2


def test_mistyped_commands_and_options_get_a_suggestion(terminal: Terminal) -> None:
    assert "install" in terminal.run("instal", "x").stderr
    assert "--deployment" in terminal.run("install", "x", "--deploymnet", "y").stderr


def test_usage_errors_are_a_document_with_json(terminal: Terminal) -> None:
    code, answer = terminal.ask("install")
    assert code == 2
    assert answer["problems"][0]["code"] == "PL-C019"


def test_a_missing_file_is_a_problem_not_a_usage_error(terminal: Terminal) -> None:
    code, answer = terminal.ask("install", "missing.yaml")
    assert code == 1
    assert answer["problems"][0]["code"] == "PL-B001"


def test_what_is_no_character_is_escaped_in_documents_and_texts(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "caf\udce9.yaml"  # as Python reads the name of a file that is not UTF-8
    code, found = terminal.ask("blueprints", "validate", name)
    assert code == 1
    assert name in found["problems"][0]["message"], "a document reads back as it was"
    assert "caf\\udce9.yaml" in terminal.run("blueprints", "validate", name).stderr
    CliContext(as_json=True).answer({"path": name, "load": float("nan")}, str)
    document = capsys.readouterr().out
    assert json.loads(document, parse_constant=pytest.fail) == {"path": name, "load": "NaN"}
    CliContext().answer({}, lambda: f"  path: {name}")
    assert capsys.readouterr().out == "  path: caf\\udce9.yaml\n"


def test_names_and_ids_may_be_shortened_while_they_are_unique(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "alpha")
    assert terminal.ask("deployments", "show", "al")[1]["name"] == "alpha"
    assert terminal.ask("instances", "show", "base")[1]["node"] == "base"
    code, answer = terminal.ask("instances", "show", "top")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C013")
    assert terminal.ask("executions", "show", "install")[1]["id"] == "install-1"


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("deployments", "show", "shpo"), "PL-C010", "shop"),
        (("executions", "show", "instal-1"), "PL-C011", "install-1"),
        (("instances", "list", "--node", "tpo"), "PL-C012", "top"),
        (("instances", "show", "bsae_1"), "PL-C012", "base"),
        (("uninstall", "-d", "shpo"), "PL-C010", "shop"),
    ],
)
def test_mistyped_names_get_a_suggestion(terminal: Terminal, words: tuple[str, ...], code: str, hint: str) -> None:
    terminal.run("install", terminal.write())
    exit_code, answer = terminal.ask(*words)
    problem = answer["problems"][0]
    assert (exit_code, problem["code"]) == (1, code)
    assert hint in problem["mend"]


def test_without_an_id_the_latest_execution_is_meant_and_named(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    terminal.run("uninstall", "-d", "shop")
    assert terminal.run("executions", "show", "-d", "shop").stdout.startswith("uninstall-2 of 'shop'")


def test_without_id_and_deployment_it_is_asked_which(terminal: Terminal) -> None:
    file = terminal.write()
    terminal.run("install", file, "-d", "a")
    terminal.run("install", file, "-d", "b")
    assert terminal.ask("executions", "show")[1]["problems"][0]["code"] == "PL-C018"


def test_long_lists_are_cut_and_counted(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-i", "count=200")
    result = terminal.run("instances", "list", "--limit", "10")
    assert len(result.stdout.splitlines()) == 12
    assert "10 of 201 shown" in result.stdout
    assert terminal.ask("instances", "list", "--state", "started", "--node", "top")[1]["total"] == 200
    assert terminal.ask("instances", "list", "--state", "deleted")[1]["total"] == 0


@pytest.mark.parametrize("name", ["1shop", "my shop", "", "a" * 129, "-x"])
def test_names_of_deployments_keep_their_rule(terminal: Terminal, name: str) -> None:
    code, answer = terminal.ask("install", terminal.write(), f"--deployment={name}")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C021")


def test_d29_at_most_200_problems_are_printed_and_all_counted(terminal: Terminal) -> None:
    head = "tosca_definitions_version: cloudify_dsl_1_3\nnode_templates:\n"
    file = terminal.write(head + "".join(f"  n{number}: {{type: Nothing}}\n" for number in range(300)))
    code, answer = terminal.ask("blueprints", "validate", file)
    assert (code, len(answer["problems"]), answer["total"]) == (1, 200, 300)
    assert "300 problems, 200 of 300 shown" in terminal.run("blueprints", "validate", file).stderr


def test_d28_settings_that_are_none_stop_every_command(terminal: Terminal) -> None:
    (terminal.folder / "phaseline.toml").write_text('[store]\nulr = "x"\n')
    code, answer = terminal.ask("deployments", "list")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-C001")
    assert "store.url" in answer["problems"][0]["mend"]


def test_the_store_of_an_option_wins_over_the_environment(terminal: Terminal) -> None:
    blueprint = terminal.write()
    terminal.run("install", blueprint)
    terminal.run("--store", "sqlite:///other.db", "install", blueprint, "-d", "other")
    (found,) = terminal.ask("--store", "sqlite:///other.db", "deployments", "list")[1]["deployments"]
    assert found["name"] == "other"


def test_help_has_an_example_everywhere(terminal: Terminal) -> None:
    assert "Example: phaseline install" in terminal.run("install", "--help").stdout


def test_a_plugin_that_is_not_there_is_told_before_anything_is_stored(terminal: Terminal) -> None:
    file = terminal.write(BLUEPRINT.replace("made.made.create", "made.mdae.create"))
    code, answer = terminal.ask("install", file)
    assert (code, answer["problems"][0]["code"]) == (1, "PL-O001")
    assert "'made'" in answer["problems"][0]["mend"]
    assert not terminal.has_store()


def test_hosts_whose_agent_nobody_installs_are_warned_of(terminal: Terminal) -> None:
    host = "{type: cloudify.nodes.Compute, properties: {agent_config: {install_method: remote}}}"
    file = terminal.write(BLUEPRINT.replace("node_templates:\n", f"node_templates:\n  vm: {host}\n"))
    assert "no agents are installed" in terminal.run("plan", "install", file).stdout
    assert "no agents are installed" in terminal.run("install", file).stderr


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["hello"], "hello/blueprint.yaml"),
        (["blueprint", "hello"], "hello/blueprint.yaml"),
        (["plugin", "hello"], "hello/src/hello/__init__.py"),
        (["blueprint"], "blueprint.yaml"),
        (["plugin"], "src/shop/__init__.py"),
    ],
)
def test_init_takes_a_kind_and_a_folder_or_one_of_them(terminal: Terminal, words: list[str], file: str) -> None:
    assert terminal.run("init", *words).exit_code == 0
    assert (terminal.folder / file).is_file()


@pytest.mark.parametrize("word", ["plugn", "pluginn", "plugins", "Plugin", "bluprint", "blueprints"])
def test_init_of_a_misspelled_kind_writes_nothing_and_suggests(terminal: Terminal, word: str) -> None:
    meant = "blueprint" if "print" in word else "plugin"
    for words in ([word], [word, "hello"]):
        result = terminal.run("init", *words)
        assert result.exit_code == 2
        assert f"Did you mean '{meant}'?" in result.stderr
    assert list(terminal.folder.iterdir()) == []


@pytest.mark.parametrize("folder", ["my-plugin", "blueprint-2", "myplugin", "shop"])
def test_init_of_a_folder_that_sounds_like_a_kind_is_meant(terminal: Terminal, folder: str) -> None:
    assert terminal.run("init", folder).exit_code == 0
    assert (terminal.folder / folder / "blueprint.yaml").exists()


def test_init_with_two_folders_is_refused(terminal: Terminal) -> None:
    assert terminal.run("init", "one", "two").exit_code == 2
    assert terminal.run("init", "plugin", "one", "two").exit_code == 2


def test_a_warning_before_an_install_names_its_mend(terminal: Terminal) -> None:
    (terminal.folder / "secret.yaml").write_text(
        "tosca_definitions_version: cloudify_dsl_1_4\n"
        "imports: [cloudify/types/types.yaml]\n"
        "inputs: {password: {default: x}}\n"
        "node_templates: {web: {type: cloudify.nodes.Root}}\n"
    )
    result = terminal.run("install", "secret.yaml", "-d", "secret")
    assert result.exit_code == 0
    assert "all users can read its value; add 'hidden: true'" in " ".join(result.stderr.split())


@pytest.mark.parametrize("words", [["status"], ["--help"], ["blueprints", "schema"]])
def test_a_reader_that_has_left_is_no_news(terminal: Terminal, words: list[str]) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    reading, writing = os.pipe()
    os.close(reading)
    # Before 3.13 Python tells of a stream that cannot be closed in its development mode only.
    command = [sys.executable, "-X", "dev", "-c", "from phaseline.cli.main import main; main()", *words]
    environment = {**os.environ, **terminal.environment}
    try:
        ended = subprocess.run(
            command, cwd=terminal.folder, env=environment, stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)
    assert b"BrokenPipe" not in ended.stderr


def test_init_of_nothing_says_what_to_name(terminal: Terminal) -> None:
    result = terminal.run("init")
    assert result.exit_code == 2
    assert "Name a folder: phaseline init hello" in result.stderr
    assert "Missing argument" not in result.stderr
    assert list(terminal.folder.iterdir()) == []


def test_a_list_of_deployments_says_nothing_that_it_has_not_looked_up(terminal: Terminal) -> None:
    terminal.run("deployments", "create", terminal.write(), "-d", "shop")
    (listed,) = terminal.ask("deployments", "list")[1]["deployments"]
    shown = terminal.ask("deployments", "show", "shop")[1]
    assert listed.keys().isdisjoint({"inputs", "nodes"})
    assert listed.items() <= shown.items()
    assert shown["nodes"] == {"base": 1, "top": 2}


def test_m2_validate_warns_of_modules_that_are_not_here_and_install_refuses_them(terminal: Terminal) -> None:
    file = terminal.write(BLUEPRINT.replace("made.made.create", "made.mdae.create"))
    code, found = terminal.ask("blueprints", "validate", file)
    (warning,) = found["warnings"]
    assert (code, warning["code"], warning["severity"]) == (0, "PL-O001", "warning")
    assert "did you mean 'made'?" in warning["mend"]
    assert "there is no module 'mdae'" in terminal.run("plan", "install", file).stdout
    assert terminal.run("install", file).exit_code == 1


@pytest.mark.parametrize("option", ["-q", "--quiet", "-v", "--store", "--config"])
def test_an_option_of_the_program_after_the_command_is_told_its_place(terminal: Terminal, option: str) -> None:
    result = terminal.run("deployments", "list", option, "x")
    assert result.exit_code == 2
    assert f"It belongs before the command: phaseline {option} ..." in result.stderr


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("--json", "status"), "phaseline status --json ..."),
        (("-d", "app", "instances", "list"), "phaseline instances list -d ..."),
    ],
)
def test_an_option_of_a_command_that_stands_before_it_is_told_its_place(
    terminal: Terminal, words: tuple[str, ...], place: str
) -> None:
    result = terminal.run(*words)
    assert result.exit_code == 2
    assert f"It belongs after the command: {place}" in result.stderr + result.stdout


def test_an_option_that_no_command_has_is_told_no_place(terminal: Terminal) -> None:
    result = terminal.run("--bogus", "status")
    assert result.exit_code == 2
    assert "It belongs" not in result.stderr


def test_following_what_has_ended_shows_it_and_says_nothing_of_running(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    result = terminal.run("executions", "follow", "-d", "shop")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "completed in" in result.stdout


def test_a_module_that_is_no_python_is_found_before_anything_is_stored(terminal: Terminal) -> None:
    file = terminal.write()
    module = terminal.folder / "plugins" / "made.py"
    module.write_text("def create(item):\n    return (1,\n")
    for words in (("install", file), ("plan", "install", file)):
        code, found = terminal.ask(*words)
        (problem,) = found["problems"]
        assert (code, problem["code"], problem["file"], problem["line"]) == (1, "PL-O004", str(module), 2)
    assert not terminal.has_store()
    code, found = terminal.ask("blueprints", "validate", file)
    assert (code, [warning["code"] for warning in found["warnings"]]) == (0, ["PL-O004"])
