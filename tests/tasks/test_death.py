"""What an engine has started dies with it, on this machine and on hosts."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.tasks.servers import KINDS, server
from tests.tasks.tasked import living, pids_in

PATIENCE_S = 60


@pytest.mark.parametrize("kind", ["here", *KINDS])
def test_f34_commands_of_a_killed_engine_are_ended_where_they_run(tmp_path: Path, kind: str) -> None:
    pids = tmp_path / "pids"
    command = f"sleep 60 & echo $! > {pids}; setsid sleep 61 & echo $! >> {pids}; echo ready; wait"
    told: dict[str, object] = {"command": command, "root": str(tmp_path / "root")}
    if kind == "here":
        _kill_in_the_middle(told)
    else:
        with server(kind, tmp_path / "server") as running:
            _kill_in_the_middle({**told, "user": running.user, "port": running.port, "key": running.key})
            _await_end(pids)
    _await_end(pids)


def _kill_in_the_middle(told: dict[str, object]) -> None:
    engine = [sys.executable, str(Path(__file__).with_name("hanging.py")), json.dumps(told)]
    with subprocess.Popen(engine, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "<out> ready\n"
        process.kill()


def _await_end(pids: Path) -> None:
    assert len(pids_in(pids)) == 2
    until = time.monotonic() + PATIENCE_S
    while living(pids):
        assert time.monotonic() < until, living(pids)
