"""``plugins list|show|check`` and ``phases list|show``: what plugins define, and everything that is wrong with them."""

from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import write_pair
from tests.cli.terminal import Terminal


@pytest.fixture
def acme(terminal: Terminal) -> Path:
    """A folder of plugins with a sound pair and one that depends on it."""
    folder = terminal.folder / "acme"
    write_pair(folder, "create", {"Phase.SleepDelay": "2", "Phase.Color": "blue", "HandlesProvider": "AWS"})
    write_pair(
        folder,
        "attach",
        {"PhaseName": "Acme.Attach", "Phase.Dependencies": "acme.create", "ResourceConstraint": ":= Cores > 2"},
        code="async def handle(handler): ...\n",
    )
    return folder


def test_phases_are_listed(terminal: Terminal, acme: Path) -> None:
    result = terminal.run("phases", "list", "--plugins", "acme")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["PHASE", "Acme.Attach", "Acme.Create"]
    code, found = terminal.ask("phases", "list", "--plugins", "acme", "--state", "Configuration")
    assert (code, found) == (0, [])
    code, found = terminal.ask("phases", "list", "--plugins", "acme", "--type", "Cloud.Node")
    assert len(found) == 2


def test_a_phase_is_shown_with_what_it_waits_for(terminal: Terminal, acme: Path) -> None:
    code, found = terminal.ask("phases", "show", "acme.attach", "--plugins", "acme")
    assert code == 0
    assert (found["name"], found["constraint"], found["needs"]) == (
        "Acme.Attach",
        "Cores > 2",
        {"Allocation": ["Acme.Create"]},
    )
    assert (found["function"], found["is_async"], found["is_invalid"], found["error"]) == (
        "attach:handle",
        True,
        False,
        "",
    )
    text = terminal.run("phases", "show", "Acme.Create", "--plugins", "acme").stdout
    assert "providers       AWS" in text
    assert "sleep_delay_s = 2.0" in text
    assert 'Color = "blue"' in text


def test_the_folders_of_the_settings_are_read(terminal: Terminal, acme: Path) -> None:
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(acme)
    assert "Acme.Create" in terminal.run("phases", "list").stdout
    assert "Acme.Create" in terminal.run("plugins", "list").stdout


def test_a_name_that_is_not_there_gets_a_hint(terminal: Terminal, acme: Path) -> None:
    code, found = terminal.ask("phases", "show", "Acme.Craete", "--plugins", "acme")
    assert (code, found["problems"][0]["code"]) == (1, "PL-D053")
    assert "did you mean 'Acme.Create'?" in found["problems"][0]["mend"]
    code, found = terminal.ask("plugins", "show", "craete", "--plugins", "acme")
    assert (code, found["problems"][0]["code"]) == (1, "PL-D054")
    code, found = terminal.ask("plugins", "list", "--plugins", "nowhere")
    assert (code, found["problems"][0]["code"]) == (1, "PL-O003")


def test_without_plugins_it_is_said_where_they_are_looked_for(terminal: Terminal) -> None:
    assert "plugins.path" in terminal.run("phases", "list").stdout
    assert "plugins.path" in terminal.run("plugins", "list").stdout


def test_plugins_are_listed_and_shown_with_what_is_wrong(terminal: Terminal, acme: Path) -> None:
    write_pair(acme, "off", {"PhaseName": "Off", "Disabled": "true", "Version": "3"})
    write_pair(acme, "bad", {"PhaseName": "Bad", "ResourceConstraint": "Cores > 2"})
    code, found = terminal.ask("plugins", "list", "--plugins", "acme")
    assert code == 0
    assert {view["name"]: (view["kind"], view["status"]) for view in found} == {
        "attach": ("phase", "good"),
        "bad": ("phase", "refused"),
        "create": ("phase", "good"),
        "off": ("phase", "disabled"),
    }
    text = terminal.run("plugins", "show", "bad", "--plugins", "acme").stdout
    assert "bad: refused" in text
    assert "PL-D013" in text
    shown = terminal.run("phases", "show", "Bad", "--plugins", "acme").stdout
    assert "Bad: invalid" in shown
    assert "Bad cannot be used: PL-D013" in terminal.run("phases", "list", "--plugins", "acme").stdout


def test_p10_check_prints_everything_at_once_and_its_exit_code_says_so(terminal: Terminal, acme: Path) -> None:
    write_pair(acme, "create", {"Phase.Dependencies": "Acme.Attach"}, "try:\n  pass\nexcept X, e:\n  pass\n")
    write_pair(acme, "bad", {"PhaseName": "Bad", "ResourceConstraint": "Cores > 2"})
    result = terminal.run("plugins", "check", "acme")
    assert result.exit_code == 1
    assert "PL-D003 error: `except X, e:` is the spelling of Python 2" in result.stdout
    assert "at acme/create.py:3:8" in result.stdout
    assert "PL-D013" in result.stdout
    assert result.stdout.rstrip().endswith("3 plugins, 3 phases: refused")


def test_check_of_what_is_sound(terminal: Terminal, acme: Path) -> None:
    result = terminal.run("plugins", "check", "acme/create.cfg", "acme/attach.py")
    assert (result.exit_code, result.stdout.rstrip()) == (0, "2 plugins, 2 phases: good")
    code, found = terminal.ask("plugins", "check")
    assert (code, found["plugins"]) == (0, 0)


def test_check_compares_with_the_folders_of_plugins(terminal: Terminal, acme: Path) -> None:
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(acme)
    write_pair(terminal.folder, "new", {"Phase.Dependencies": "Acme.Attach"})
    code, found = terminal.ask("plugins", "check", "new.cfg")
    assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-D020"])
    code, found = terminal.ask("plugins", "check", "acme/attach.cfg")
    assert (code, found["problems"]) == (0, [])
    code, found = terminal.ask("plugins", "check", "acme")
    assert (code, found["plugins"], found["problems"]) == (0, 2, [])
    assert terminal.run("plugins", "check").stdout.rstrip() == "2 plugins, 2 phases: good"


def test_check_of_a_path_that_is_not_there(terminal: Terminal) -> None:
    code, found = terminal.ask("plugins", "check", "nowhere")
    assert (code, found["problems"][0]["code"]) == (1, "PL-D050")


def test_reload_without_an_engine_only_checks(terminal: Terminal, acme: Path) -> None:
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(acme)
    result = terminal.run("plugins", "reload")
    assert (result.exit_code, result.stdout.rstrip()) == (0, "No engine runs; checked only: 2 phases can be used")
    write_pair(acme, "bad", {"PhaseName": "Bad", "ResourceConstraint": "Cores > 2"})
    code, found = terminal.ask("plugins", "reload")
    assert (code, found["pid"], found["phases"]) == (1, 0, 2)
    assert [problem["code"] for problem in found["problems"]] == ["PL-D013"]


def test_modules_with_operations_are_listed_beside_phases(terminal: Terminal, acme: Path) -> None:
    (acme / "shop").mkdir()
    (acme / "shop" / "machines.py").write_text(
        "from phaseline import operation\n@operation\ndef start(item): ...\ndef helper(): ...\nraise SystemExit(1)\n"
    )
    (acme / "broken.py").write_text("operation = (")
    code, found = terminal.ask("plugins", "list", "--plugins", "acme")
    assert code == 0
    assert [(view["name"], view["kind"]) for view in found] == [
        ("attach", "phase"),
        ("create", "phase"),
        ("shop.machines", "operations"),
    ]
    text = terminal.run("plugins", "show", "shop.machines", "--plugins", "acme").stdout
    assert "functions start" in text
    assert f"defined   {acme}/shop/machines.py" in text


def test_a_filter_that_leaves_nothing_says_so(terminal: Terminal, acme: Path) -> None:
    told = terminal.run("phases", "list", "--plugins", "acme", "--state", "Allocating").stdout
    assert told.startswith("No phase has that state")


def test_a_check_that_finds_nothing_says_so_and_where_it_looked(terminal: Terminal) -> None:
    (terminal.folder / "empty").mkdir()
    result = terminal.run("plugins", "check", "--plugins", "empty")
    assert result.exit_code == 0
    assert result.stdout.startswith("No plugin or package was found.")
    assert f"were searched in {terminal.folder / 'empty'}," in result.stdout
    assert "plugins.path" in terminal.run("plugins", "check").stdout


def test_a_check_of_a_path_without_plugins_is_refused(terminal: Terminal) -> None:
    (terminal.folder / "empty").mkdir()
    code, found = terminal.ask("plugins", "check", "empty")
    assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-D050"])
    terminal.write()
    code, found = terminal.ask("plugins", "check", "plugins")
    assert code == 1
    assert found["problems"][0]["mend"].endswith("phaseline plugins try made:create --plugins plugins")
