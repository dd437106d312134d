"""What a person sees of an execution of which something stored cannot be read, and of words and files that are nearly right."""

import sqlite3
from pathlib import Path

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

import phaseline

NO_SECRET = BLUEPRINT.replace(", hidden: true", "")


def poison(terminal: Terminal) -> None:
    """A store with an execution that nobody has begun, and whose request is not what was written."""
    url = terminal.environment["PHASELINE_STORE_URL"]
    with phaseline.open(url) as shop:
        shop.executions.install(terminal.write(NO_SECRET), "bad", detach=True)
    db = sqlite3.connect(url.removeprefix("sqlite:///"))
    with db:
        db.execute("""update execution set request = replace(request, '"task_retries":60', '"task_retries":"x"')""")
    db.close()


def test_others_install_beside_an_execution_that_cannot_be_read(terminal: Terminal) -> None:
    poison(terminal)
    assert "open     1 execution, not started" in terminal.run("status").stdout
    assert "1 request waits for an engine" in terminal.run("status").stdout
    result = terminal.run("install", terminal.write(NO_SECRET), "-d", "good")
    assert result.exit_code == 0, result.output
    code, engine = terminal.ask("engine", "run", "--until-idle")
    assert (code, engine["open"]) == (0, [])
    (need,) = terminal.ask("status")[1]["needs"]
    assert need["text"] == "install-1 of 'bad' failed"
    assert "PL-S012 install-1: the execution install-1 cannot be continued: of its request task_retries is not" in (
        terminal.run("executions", "show", "install-1").stdout
    )
    (found,) = [check for check in terminal.ask("doctor")[1]["checks"] if check["name"] == "executions"]
    assert (found["level"], found["mend"]) == ("warn", "start again from the beginning: phaseline uninstall -d bad")
    assert "PL-S012" in found["text"]
    assert terminal.run("uninstall", "-d", "bad").exit_code == 0
    assert "executions" not in {check["name"] for check in terminal.ask("doctor")[1]["checks"]}


@pytest.mark.parametrize(
    ("files", "mend"),
    [
        (["other.yaml", "blueprint.yaml"], "name the file in it: farm/blueprint.yaml"),
        (["main.yaml"], "name the file in it: farm/main.yaml"),
        ([], "name the blueprint's main file; there is none in it"),
    ],
)
def test_a_folder_in_the_place_of_a_blueprint_is_told_with_its_file(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, files: list[str], mend: str
) -> None:
    farm = terminal.folder / "farm"
    farm.mkdir()
    for name in files:
        (farm / name).write_text("")
    monkeypatch.chdir(terminal.folder)
    code, told = terminal.ask("install", "farm")
    (problem,) = told["problems"]
    assert (code, problem["code"], problem["mend"]) == (1, "PL-C054", mend)
    assert problem["message"] == "'farm' is a folder, not the file of a blueprint"


def test_an_install_says_once_that_its_log_cannot_be_written(terminal: Terminal) -> None:
    (terminal.folder / "file").write_text("")
    log = str(Path(terminal.folder) / "file" / "engine.log")
    terminal.environment["PHASELINE_LOG_FILE"] = log
    result = terminal.run("install", terminal.write())
    assert result.exit_code == 0
    assert result.output.count(f"warning the log file {log} cannot be written: Not a directory") == 1
