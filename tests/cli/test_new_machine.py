"""On a machine without a store lists say how to begin; a path of a store that somebody named may be mistyped, and is an error."""

from pathlib import Path

import click
import pytest
from tests.cli.terminal import Terminal

from phaseline.cli.command_tree import root
from phaseline.cli.reference_docs import walk

LISTS = [
    path.removeprefix("phaseline ")
    for path, command in walk(root, "phaseline")
    if not isinstance(command, click.Group) and any(one.name == "every_s" for one in command.params)
]
EMPTY = {"phases list", "hooks list", "plugins list"}
"""They list what is not in a store."""


@pytest.fixture
def new(terminal: Terminal, tmp_path: Path) -> Terminal:
    del terminal.environment["PHASELINE_STORE_URL"]
    terminal.environment["XDG_DATA_HOME"] = str(tmp_path / "data")
    return terminal


def test_every_list_and_the_status_can_be_watched() -> None:
    listing = {path for path, _ in walk(root, "phaseline") if path.endswith(" list")}
    watched = {f"phaseline {name}" for name in LISTS}
    assert listing - watched == {"phaseline deployments plugins list"}, "it asks of one deployment"
    assert "phaseline status" in watched


@pytest.mark.parametrize("words", LISTS)
def test_lists_of_a_new_machine_teach_and_make_nothing(new: Terminal, tmp_path: Path, words: str) -> None:
    result = new.run(*words.split())
    assert result.exit_code == 0
    if words not in EMPTY:
        assert "phaseline init hello" in result.output
    code, answer = new.ask(*words.split())
    assert code == 0
    assert isinstance(answer, list) or not answer.get("total")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [words for words in LISTS if words not in EMPTY])
def test_a_store_that_was_named_and_is_not_there_is_an_error(new: Terminal, words: str) -> None:
    new.environment["PHASELINE_STORE_URL"] = "sqlite:///mistyped.db"
    code, answer = new.ask(*words.split())
    assert (code, answer["problems"][0]["code"]) == (1, "PL-S007")


def test_the_status_of_one_deployment_tells_of_no_other(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    terminal.trouble("base")
    terminal.run("install", terminal.write(), "-d", "office")
    told = terminal.run("status", "shop").stdout
    assert told.startswith("shop: good")
    assert "office" not in told
    assert "Nothing needs a person." in told
    assert "install-2 of 'office' failed" in terminal.run("status", "office").stdout
    code, answer = terminal.ask("status", "shop")
    assert (code, answer["deployment"]["name"], answer["needs"]) == (0, "shop", [])
    assert terminal.ask("status")[1]["deployment"] is None
    assert terminal.ask("status", "shpo")[1]["problems"][0]["code"] == "PL-C010"
