"""What the doctor finds, and that each finding says what mends it."""

import os
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.cli.clusters import plugins
from tests.cli.terminal import Terminal

import phaseline


def levels(terminal: Terminal) -> tuple[int, dict[str, tuple[str, str]]]:
    """(exit code, {name of a check: (level, text)}), the worst of each name."""
    code, found = terminal.ask("doctor")
    worst: dict[str, tuple[str, str]] = {}
    for check in sorted(found["checks"], key=lambda check: ["ok", "warn", "fail"].index(check["level"])):
        worst[check["name"]] = (check["level"], check["text"])
        assert bool(check["mend"]) == (check["level"] != "ok"), check
    return code, worst


def store_file(terminal: Terminal) -> Path:
    return Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///"))


def test_a_healthy_installation_is_all_ok(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    code, found = levels(terminal)
    assert code == 0
    of_this_machine = {"folders", "disk"}
    assert {level for name, (level, _) in found.items() if name not in of_this_machine} == {"ok"}
    assert set(found) >= {"python", "sqlite", "settings", "permissions", "disk", "store", "engine", "clock", "log"}
    assert "0 failing" in terminal.run("doctor").stdout


def test_the_doctor_makes_no_store(terminal: Terminal) -> None:
    assert levels(terminal)[0] == 0
    assert not store_file(terminal).exists()


def test_settings_that_are_none_are_told_and_fail(terminal: Terminal) -> None:
    (terminal.folder / "phaseline.toml").write_text('[store]\nulr = "x"\n')
    code, found = levels(terminal)
    assert (code, found["settings"][0]) == (1, "fail")
    assert "ulr" in found["settings"][1]


def test_a_store_that_others_may_read_is_a_warning(terminal: Terminal) -> None:
    terminal.make_store()
    store_file(terminal).chmod(0o644)
    code, found = levels(terminal)
    assert (code, found["permissions"][0]) == (0, "warn")


def test_a_damaged_store_fails(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    file = store_file(terminal)
    content = bytearray(file.read_bytes())
    content[8_192:] = os.urandom(len(content) - 8_192)
    file.write_bytes(content)
    code, found = levels(terminal)
    assert (code, found["store"][0]) == (1, "fail")


def test_plugin_folders_that_are_missing_or_empty_are_told(terminal: Terminal) -> None:
    (terminal.folder / "empty").mkdir()
    terminal.environment["PHASELINE_PLUGINS_PATH"] = f"{terminal.folder}/empty"
    assert levels(terminal)[1]["plugins"][0] == "warn"
    terminal.environment["PHASELINE_PLUGINS_PATH"] = f"{terminal.folder}/missing"
    code, found = levels(terminal)
    assert (code, found["plugins"][0]) == (1, "fail")


def test_code_that_was_moved_away_is_told_with_its_deployment(terminal: Terminal) -> None:
    terminal.run("install", terminal.write())
    os.chdir(terminal.folder.parent)
    terminal.folder.rename(terminal.folder.with_name("elsewhere"))
    found = levels(terminal)[1]
    assert found["code"][0] == "warn"
    assert "'shop'" in found["code"][1]


def test_a_clock_that_was_set_back_is_told(terminal: Terminal) -> None:
    import sqlite3

    terminal.run("install", terminal.write())
    with sqlite3.connect(store_file(terminal)) as db:
        db.execute("update execution set ended_at = ended_at + 3600000")
    db.close()
    found: dict[str, Any] = levels(terminal)[1]
    assert found["clock"][0] == "warn"
    assert "3,5" in found["clock"][1] or "3,6" in found["clock"][1]


def test_folders_of_processes_that_are_gone_are_told(tmp_path: Path) -> None:
    from phaseline.use_cases.tools.doctor import leftover_folders

    (tmp_path / f"phaseline-{os.getpid()}-x").mkdir()
    assert list(leftover_folders(tmp_path)) == []
    (tmp_path / "phaseline-4194304-x").mkdir()
    assert [check.level for check in leftover_folders(tmp_path)] == ["warn"]


def test_a_store_of_an_older_schema_is_left_as_it_is(terminal: Terminal) -> None:
    terminal.make_store()
    file = store_file(terminal)
    content = bytearray(file.read_bytes())
    content[60:64] = (1).to_bytes(4, "big")
    file.write_bytes(content)
    code, found = levels(terminal)
    assert (code, found["store"][0]) == (0, "warn")
    assert file.read_bytes() == content


def test_a_variable_that_is_nearly_a_setting_is_told(terminal: Terminal) -> None:
    terminal.environment["PHASELINE_STORE_ULR"] = "sqlite:///x.db"
    code, found = terminal.ask("doctor")
    (check,) = [check for check in found["checks"] if check["name"] == "settings"]
    assert (code, check["level"]) == (0, "warn")
    assert "did you mean 'PHASELINE_STORE_URL'?" in check["mend"]


def test_a_plugin_that_is_refused_is_something_to_look_at(terminal: Terminal) -> None:
    folder = plugins(terminal)
    assert levels(terminal)[1]["plugins"][0] == "ok"
    (folder / "create.cfg").write_text("HandlesStates Allocation\n")
    level, message = levels(terminal)[1]["plugins"]
    assert level == "warn"
    assert str(folder / "create.cfg") in message


def test_the_folder_of_a_source_distribution_is_one_of_plugins(terminal: Terminal) -> None:
    terminal.run("init", "plugin", "farm")
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(terminal.folder / "farm")
    assert levels(terminal)[1]["plugins"][0] == "ok"
    (terminal.folder / "empty").mkdir()
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(terminal.folder / "empty")
    assert levels(terminal)[1]["plugins"][0] == "warn"


def test_b41_a_master_key_that_is_gone_fails_and_one_that_is_there_is_named(terminal: Terminal) -> None:
    terminal.run("secrets", "create", "token", "--value", "first-value")
    key = Path(terminal.environment["XDG_CONFIG_HOME"]) / "phaseline" / "secrets.key"
    code, found = levels(terminal)
    assert (code, found["secrets"][0]) == (0, "ok")
    assert str(key) in found["secrets"][1]
    key.unlink()
    code, found = levels(terminal)
    assert (code, found["secrets"][0]) == (1, "fail")


def test_b8_a_stored_blueprint_that_is_not_laid_out_is_no_finding(terminal: Terminal) -> None:
    terminal.run("blueprints", "upload", terminal.write(), "shop")
    terminal.run("deployments", "create", "shop", "-d", "one")
    shutil.rmtree(f"{store_file(terminal)}.blueprints")
    code, found = levels(terminal)
    assert code == 0
    assert "code" not in found


def advised(terminal: Terminal, name: str) -> str:
    """The mend of the first check of this name that is not ok."""
    _, found = terminal.ask("doctor")
    return next((check["mend"] for check in found["checks"] if check["name"] == name and check["level"] != "ok"), "")


def follow(terminal: Terminal, mend: str) -> None:
    """Do what a mend says, a command of ours or one of the shell."""
    words = shlex.split(mend)
    if words[0] == "phaseline":
        terminal.run(*words[1:])
    else:
        subprocess.run(["sh", "-c", mend], check=True)


def leave_open(terminal: Terminal) -> None:
    """Ask for an install that nobody runs."""
    file, environment = terminal.write(), terminal.environment
    key = {"secrets.key_file": str(Path(environment["XDG_CONFIG_HOME"], "phaseline", "secrets.key"))}
    with phaseline.open(environment["PHASELINE_STORE_URL"], settings=key, background=False) as shop:
        shop.executions.install(file, "shop", detach=True)


def test_a_store_that_others_may_read_is_well_after_what_is_advised(terminal: Terminal) -> None:
    terminal.make_store()
    store_file(terminal).chmod(0o644)
    follow(terminal, advised(terminal, "permissions"))
    assert advised(terminal, "permissions") == ""


def test_a_deployment_that_cannot_be_read_is_gone_after_what_is_advised(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    with closing(sqlite3.connect(store_file(terminal))) as db, db:
        db.execute("update topology set ids = cast('a' || char(0) || 'b' as blob)")
    follow(terminal, advised(terminal, "deployments"))
    assert advised(terminal, "deployments") == ""
    assert "No deployments" in terminal.run("deployments", "list").stdout


def test_an_open_execution_that_nobody_runs_is_done_after_what_is_advised(terminal: Terminal) -> None:
    leave_open(terminal)
    mend = advised(terminal, "engine")
    assert mend == "phaseline engine run"
    follow(terminal, f"{mend} --until-idle")
    assert advised(terminal, "engine") == ""


def test_what_waits_for_a_person_is_not_to_be_mended_by_an_engine(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    with closing(sqlite3.connect(store_file(terminal))) as db, db:
        db.execute("update execution set status = 'attention', ended_at = 0")
    assert advised(terminal, "engine") == "phaseline executions show install-1"
    terminal.run("executions", "cancel", "install-1", "--force")
    assert advised(terminal, "engine") == ""


def test_a_store_that_waits_since_a_restore_is_well_after_what_is_advised(terminal: Terminal) -> None:
    leave_open(terminal)
    terminal.run("store", "restore", str(store_file(terminal)))
    assert advised(terminal, "engine") == ""
    follow(terminal, advised(terminal, "restore"))
    assert advised(terminal, "restore") == ""
    follow(terminal, f"{advised(terminal, 'engine')} --until-idle")
    assert advised(terminal, "engine") == ""


def test_a_damaged_store_is_well_after_what_is_advised(terminal: Terminal) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    copy = terminal.folder / "copy.db"
    terminal.run("store", "backup", str(copy))
    with closing(sqlite3.connect(store_file(terminal))) as db, db:
        db.execute("delete from blueprint")
    mend = advised(terminal, "store").partition(": ")[2]
    follow(terminal, mend.replace("FILE", str(copy)))
    assert advised(terminal, "store") == ""
