"""A store that may only be read can be read: file, folder or owner, with and without SQLite's files beside it."""

import ctypes
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import phaseline as api

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  one: {type: cloudify.nodes.Root}
"""
PR_SET_SECUREBITS, NO_ROOT = 28, 1
STRANGER = 12345
READS = (
    ("deployments", "list"),
    ("deployments", "show", "shop"),
    ("executions", "list"),
    ("executions", "show", "install-1"),
    ("executions", "events", "install-1"),
    ("instances", "list"),
    ("plugins", "list"),
    ("status",),
    ("store", "check"),
)


def be_nobody_special() -> None:
    """From the next program on root is a user like others: permissions hold for it, too."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0)


def phaseline(folder: Path, *words: str) -> tuple[int, Any, str]:
    own = {
        "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
        "XDG_STATE_HOME": str(folder.parent / "state"),
        "XDG_CONFIG_HOME": str(folder.parent / "config"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "phaseline", *words, "--json"],
        cwd=folder.parent,
        env={**os.environ, **own},
        preexec_fn=be_nobody_special,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def file_alone(folder: Path) -> None:
    (folder / "store.db").chmod(0o444)


def folder_alone(folder: Path) -> None:
    folder.chmod(0o555)


def both(folder: Path) -> None:
    file_alone(folder)
    folder_alone(folder)


def with_a_log_left_behind(folder: Path) -> None:
    """What is told by the log alone, as a killed engine leaves it, with SQLite's index of it."""
    _leave_log(folder, "-wal", "-shm")
    both(folder)


def with_a_log_without_its_index(folder: Path) -> None:
    _leave_log(folder, "-wal")
    both(folder)


def _leave_log(folder: Path, *tails: str) -> None:
    store = folder / "store.db"
    with closing(sqlite3.connect(store)) as db:
        db.execute("update execution set reason = 'from the log'")
        db.commit()
        for tail in ("", *tails):
            shutil.copyfile(f"{store}{tail}", folder / f"kept{tail}")
    for tail in ("", *tails):
        (folder / f"kept{tail}").replace(f"{store}{tail}")


def of_another_user(folder: Path) -> None:
    if os.geteuid() == 0:
        for path in (*folder.iterdir(), folder):
            os.chown(path, STRANGER, STRANGER)
    (folder / "store.db").chmod(0o444)
    folder.chmod(0o555)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    folder = tmp_path / "here"
    folder.mkdir()
    with api.open(f"sqlite:///{folder}/store.db") as shop:
        shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop")
    yield folder
    folder.chmod(0o755)


@pytest.mark.parametrize(
    "forbid",
    [file_alone, folder_alone, both, with_a_log_left_behind, with_a_log_without_its_index, of_another_user],
)
def test_everything_can_be_read_and_nothing_is_written(folder: Path, forbid: Callable[[Path], None]) -> None:
    forbid(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for words in READS:
        code, told, said = phaseline(folder, *words)
        assert code == 0, (words, told, said)
    _, shown, _ = phaseline(folder, "executions", "show", "install-1")
    assert shown["reason"] == ("from the log" if "log" in forbid.__name__ else "")
    code, _, said = phaseline(folder, "store", "backup", str(folder.parent / "copy.db"))
    assert code == 0, said
    if forbid is not file_alone:
        after = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert after.keys() == before.keys()
        assert after["store.db"] == before["store.db"]
    code, told, said = phaseline(folder, "uninstall", "-d", "shop", "--yes")
    assert code == 1
    assert [problem["code"] for problem in told["problems"]] == ["PL-S005"], said


@pytest.mark.parametrize("forbid", [file_alone, folder_alone, both, with_a_log_left_behind])
def test_doctor_names_what_is_read_only_and_is_content_once_its_mends_are_done(
    folder: Path, forbid: Callable[[Path], None]
) -> None:
    forbid(folder)
    code, told, _ = phaseline(folder, "doctor")
    assert code == 1
    for _ in range(2):  # SQLite's files beside the store are made by the first look at it, with its mode
        for check in told["checks"]:
            if check["level"] == "fail":
                assert check["name"] == "permissions"
                subprocess.run(["sh", "-c", check["mend"]], check=True)
        code, told, _ = phaseline(folder, "doctor")
    assert code == 0, [check for check in told["checks"] if check["level"] != "ok"]
    code, _, _ = phaseline(folder, "uninstall", "-d", "shop", "--yes")
    assert code == 0
