"""A mistyped path of a store is told, instead of becoming a new, empty store."""

import pytest
from tests.cli.terminal import Terminal

READING = [
    "status",
    "deployments list",
    "deployments show shop",
    "deployments outputs shop",
    "deployments delete shop",
    "instances list",
    "instances stuck",
    "instances why web_1",
    "executions list",
    "executions show install-1",
    "executions logs -d shop",
    "executions events -d shop",
    "executions follow install-1",
    "executions cancel install-1",
    "executions retry install-1",
    "executions purge --older 1d",
    "executions start heal -d shop",
    "engine status",
    "engine stop",
    "plan uninstall -d shop",
    "uninstall -d shop",
    "store check",
    "store upgrade",
    "store compact",
    "store backup copy.db",
]


@pytest.mark.parametrize("command", READING)
def test_a_command_that_needs_a_store_makes_none(terminal: Terminal, command: str) -> None:
    wrong = terminal.folder / "no" / "such.db"
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{wrong}"
    code, found = terminal.ask(*command.split())
    (problem,) = found["problems"]
    assert (code, problem["code"], problem["subject"]) == (1, "PL-S007", str(wrong))
    assert "--store" in problem["mend"]
    assert "phaseline install" in problem["mend"]
    assert list(terminal.folder.iterdir()) == []


def test_commands_that_put_something_into_a_store_make_it(terminal: Terminal) -> None:
    blueprint = terminal.write()
    for number, command in enumerate(
        [f"install {blueprint}", f"deployments create {blueprint}", "engine run --until-idle"]
    ):
        store = terminal.folder / f"new-{number}.db"
        terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{store}"
        assert terminal.run(*command.split()).exit_code == 0
        assert store.exists()


def test_a_blueprint_is_validated_and_planned_without_a_store(terminal: Terminal) -> None:
    blueprint = terminal.write()
    assert terminal.run("blueprints", "validate", blueprint).exit_code == 0
    assert terminal.run("plan", "install", blueprint).exit_code == 0
    assert not terminal.has_store()
