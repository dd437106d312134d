"""The samples of source document 1, "Phase Plugins": unchanged but for ``except ... as``, which they had without ``as``.

The functions that the samples leave to their reader are written here, and ``ssh`` is a command of this machine.
"""

import os
import stat
from pathlib import Path

import pytest
from tests.acceptance.source1_samples import ASYNCHRONOUS, FIRST, IN_BULK, ONE_BY_ONE
from tests.compat.cyclecloud.runs import ALL, Make, messages, plugin, runs, words

__all__ = ["runs"]

LEFT_OUT = """

def _convert_node_to_instance(node):
    return {"type": node.getAsString("MachineType"), "label": node.getAsString("Name")}

def _lookup_credentials(name):
    return {"main": "secret-of-main"}[name]
"""
ACME = """
created = {}

def create_instance(creds, params):
    if params["type"] == "none-left":
        raise RuntimeError("no more machines of this type")
    instance_id = f"i-{len(created) + 1}"
    created[instance_id] = creds, params["type"], params["label"]
    return instance_id
"""
COMMANDS = '''

import os, subprocess, tempfile

def _call_remote_command(node):
    """Start a command that goes on without us: it ends with the status that is written into its pipe ``go``."""
    dirname = tempfile.mkdtemp(prefix=node.getAsString("Name") + "-", dir=os.environ["REMOTE"])
    for pipe in ("go", "done"):
        os.mkfifo(os.path.join(dirname, pipe))
    command = "cd %s; read status < go; echo $status > status; echo done > done" % dirname
    subprocess.check_call(["ssh", "user@" + node.getAsString("Name"), "sh", "-c", "(%s) >/dev/null 2>&1 &" % command])
    return dirname

def _check_command(dirname, node):
    try:
        with open(os.path.join(dirname, "status")) as file:
            status = file.read().strip()
    except FileNotFoundError:
        return False, None
    return True, None if status == "0" else "the command ended with " + status
'''
SSH = """#!/bin/sh
# ssh USER@HOST COMMAND...: runs the command in the folder that stands for the other machine
shift
cd "$REMOTE" || exit 255
for word; do [ "$word" = vm_3 ] && [ -e refused ] && exit 13; done
exec "$@"
"""


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands on "other machines" run."""
    programs, folder = tmp_path / "bin", tmp_path / "remote"
    programs.mkdir()
    folder.mkdir()
    ssh = programs / "ssh"
    ssh.write_text(SSH)
    ssh.chmod(ssh.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("REMOTE", str(folder))
    return folder


def test_p17_the_first_sample_creates_an_instance_for_each_node(runs: Make, tmp_path: Path) -> None:
    plugin(tmp_path, ACME, "acme")
    world = runs(FIRST + LEFT_OUT)
    for number in ALL:
        world.edit(number, MachineType="small", Credentials="main")
    assert words(world.run(*ALL)) == ["completed"] * 4
    assert [world.document(number)["InstanceId"] for number in ALL] == ["i-1", "i-2", "i-3", "i-4"]


def test_p25_the_first_sample_fails_those_it_did_not_come_to(runs: Make, tmp_path: Path) -> None:
    plugin(tmp_path, ACME, "acme")
    world = runs(FIRST + LEFT_OUT)
    for number in ALL:
        world.edit(number, MachineType="none-left" if number == 2 else "small", Credentials="main")
    answer = world.run(*ALL)
    assert words(answer) == ["completed", "completed", "failed", "failed"]
    assert set(messages(answer).values()) == {"RuntimeError: no more machines of this type"}
    assert "InstanceId" in world.document(1)
    assert "InstanceId" not in world.document(3)


def test_p24_host_files_one_by_one_tell_which_of_them_failed(runs: Make, remote: Path) -> None:
    (remote / "refused").touch()
    answer = runs(ONE_BY_ONE).run(*ALL)
    assert words(answer) == ["completed", "completed", "failed", "completed"]
    assert messages(answer)[2].startswith(
        "Failed to create file: Command '['ssh', 'user@remotehost', 'touch', 'vm_3']'"
    )
    assert sorted(file.name for file in remote.iterdir()) == ["refused", "vm_1", "vm_2", "vm_4"]


def test_p18_host_files_in_bulk_are_one_command(runs: Make, remote: Path) -> None:
    assert words(runs(IN_BULK).run(*ALL)) == ["completed"] * 4
    assert sorted(file.name for file in remote.iterdir()) == ["vm_1", "vm_2", "vm_3", "vm_4"]


def test_p26_host_files_in_bulk_fail_together(runs: Make, remote: Path) -> None:
    (remote / "refused").touch()
    answer = runs(IN_BULK).run(*ALL)
    assert words(answer) == ["failed"] * 4
    assert all(message.startswith("CalledProcessError: Command ") for message in messages(answer).values())
    assert [file.name for file in remote.iterdir()] == ["refused"]


def finish(directory: object, status: str) -> None:
    """Let the command in this folder end, and wait until it has."""
    folder = Path(str(directory))
    (folder / "go").write_text(f"{status}\n")
    assert (folder / "done").read_text() == "done\n"


def test_p35_the_asynchronous_sample_starts_once_and_looks_again_until_it_is_done(runs: Make, remote: Path) -> None:
    world = runs(ASYNCHRONOUS + COMMANDS)
    assert words(world.run(0, 1)) == ["again", "again"]
    directories = [world.data(number)["Directory"] for number in (0, 1)]
    finish(directories[1], "0")
    assert words(world.run(0, 1, 2)) == ["again", "completed", "again"], "one more has come along meanwhile"
    assert [world.data(number)["Directory"] for number in (0, 1)] == directories
    finish(directories[0], "3")
    finish(world.data(2)["Directory"], "0")
    last = world.run(0, 2)
    assert words(last) == ["failed", "completed"]
    assert messages(last) == {0: "the command ended with 3"}
    assert len(list(remote.iterdir())) == 3
