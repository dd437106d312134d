"""Checking, copying, compacting and purging a store through the command line."""

import os
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal


def store_file(terminal: Terminal) -> Path:
    return Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///"))


def test_a_sound_store_is_told_so(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    assert terminal.ask("store", "check")[0] == 0
    assert "is sound" in terminal.run("store", "check").stdout


def test_a_store_that_does_not_fit_exits_with_1(terminal: Terminal) -> None:
    import sqlite3

    terminal.run("install", terminal.write())
    with sqlite3.connect(store_file(terminal)) as db:
        db.execute("delete from graph")
    db.close()
    code, found = terminal.ask("store", "check")
    assert code == 1
    assert found["findings"]


def test_a_copy_is_a_store_and_never_replaces_a_file(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("install", terminal.write())
    copy = tmp_path / "copy.db"
    code, saved = terminal.ask("store", "backup", str(copy))
    assert (code, saved["file"], saved["size_bytes"]) == (0, str(copy), copy.stat().st_size)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert terminal.ask("--store", f"sqlite:///{copy}", "deployments", "list")[1]["total"] == 1
    code, answer = terminal.ask("store", "backup", str(copy))
    assert (code, answer["problems"][0]["code"]) == (1, "PL-S006")


def test_compacting_tells_how_much_was_given_back(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    assert " returned: " in terminal.run("store", "compact").stdout


def lives(terminal: Terminal, count: int) -> None:
    file = terminal.write()
    for _ in range(count):
        terminal.run("install", file)
        terminal.run("uninstall", "-d", "shop")


def test_a_dry_run_names_what_the_purge_then_removes(terminal: Terminal) -> None:
    lives(terminal, 3)
    code, would = terminal.ask("executions", "purge", "--older", "0m", "--dry-run")
    assert (code, would["removed"]) == (0, None)
    assert terminal.ask("executions", "list")[1]["total"] == 6
    done = terminal.ask("executions", "purge", "--older", "0m")[1]
    assert done["executions"] == would["executions"]
    assert done["removed"]["executions"] == len(would["executions"])
    left = [view["id"] for view in terminal.ask("executions", "list")[1]["executions"]]
    assert len(left) == 6 - len(would["executions"])
    assert "install-5" in left


def test_what_is_younger_stays(terminal: Terminal) -> None:
    lives(terminal, 1)
    assert terminal.ask("executions", "purge", "--older", "30d")[1]["executions"] == []
    assert "No execution to remove" in terminal.run("executions", "purge", "--older", "30d").stdout


def test_one_deployment_may_be_purged(terminal: Terminal) -> None:
    file = terminal.write()
    for name in ("one", "two"):
        terminal.run("install", file, "-d", name)
        terminal.run("uninstall", "-d", name)
    assert terminal.ask("executions", "purge", "--older", "0m", "-d", "one")[1]["executions"] == ["uninstall-2"]


@pytest.mark.parametrize("age", ["", "30", "x", "-1d", "1y"])
def test_an_age_needs_a_unit(terminal: Terminal, age: str) -> None:
    assert terminal.run("executions", "purge", f"--older={age}").exit_code == 2


def test_a_damaged_store_is_told_and_left_as_it_is(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    file = store_file(terminal)
    content = bytearray(file.read_bytes())
    content[4_096:] = os.urandom(len(content) - 4_096)
    file.write_bytes(content)
    code, answer = terminal.ask("deployments", "list")
    assert (code, answer["problems"][0]["code"]) == (1, "PL-S003")
    assert file.read_bytes() == content


def test_a_file_of_something_else_is_told_and_left_as_it_is(terminal: Terminal) -> None:
    store_file(terminal).write_bytes(b"no store at all" * 100)
    code, answer = terminal.ask("install", terminal.write())
    assert (code, answer["problems"][0]["code"]) == (1, "PL-S001")
    assert store_file(terminal).read_bytes() == b"no store at all" * 100
