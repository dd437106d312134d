"""Real clients and engines killed at every commit: an order with a request id is carried out once, and answered to who asks again (ADR 0032)."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import BLUEPRINT, PLUGIN
from tests.processes.shells import Shell
from tests.started import Process

MORTAL = """
import os, signal, sqlite3, sys, threading
last, seen, traced = int(sys.argv.pop(1)), 0, set()
def told(statement):
    global seen
    if seen == last:
        os.kill(os.getpid(), signal.SIGKILL)
    seen += statement == "commit"
def watch(frame, event, function):
    if event == "c_call" and isinstance(getattr(function, "__self__", None), sqlite3.Connection):
        db = function.__self__
        if id(db) not in traced:
            traced.add(id(db))
            db.set_trace_callback(told)
sys.setprofile(watch)
threading.setprofile(watch)
from phaseline.cli.main import main
main()
"""
"""The command, which is killed when it says something to SQLite after so many commits."""
MOST = 60
"""More commits than any of these commands makes."""
RECORD = 'AdType = "Cloud.Node"\nName = "{0}"\nTargetState = "Started"\nClusterName = "{1}"\n'
PHASE = "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Acme.Create\n"
HANDLE = """
import os
def handle(handler):
    for node in handler.getResources():
        with open(os.environ["HERE"] + "/calls", "a") as file:
            file.write(f"{node.getAsString('Name')}\\n")
        handler.setCompleted(node)
"""
ORDERS: Sequence[tuple[Sequence[Sequence[str]], Sequence[str]]] = [
    ((), ("install", "blueprint.yaml", "-d", "shop")),
    ((), ("deployments", "create", "blueprint.yaml", "-d", "shop")),
    ((("install", "blueprint.yaml", "-d", "shop"),), ("uninstall", "-d", "shop")),
    ((("install", "blueprint.yaml", "-d", "shop"),), ("deployments", "delete", "shop", "--force")),
    (
        (("install", "blueprint.yaml", "-d", "shop"),),
        ("deployments", "update", "shop", "blueprint.yaml", "-i", "count=2"),
    ),
    ((), ("resources", "apply", "nodes.rec")),
]
"""(what is done before, the order)"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT.replace("count: {default: 2}", "count: {default: 1}"))
    (tmp_path / "nodes.rec").write_text(RECORD.format("n1", "one") + "\n" + RECORD.format("n2", "two"))
    (tmp_path / "phases").mkdir()
    (tmp_path / "phases" / "create.cfg").write_text(PHASE)
    (tmp_path / "phases" / "create.py").write_text(HANDLE)
    (tmp_path / "phaseline.toml").write_text('[plugins]\npath = "phases"\n')
    return Shell(tmp_path)


def mortal(shell: Shell, commits: int, *words: str) -> Process:
    return Process(
        [sys.executable, "-P", "-c", MORTAL, str(commits), *words],
        cwd=shell.folder,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed(shell: Shell, commits: int, *words: str) -> bool:
    """Whether the command was killed after so many commits, and did not end before."""
    with mortal(shell, commits, *words) as process:
        said = process.communicate()
    assert process.returncode in {0, -signal.SIGKILL}, said
    return process.returncode != 0


def answer(shell: Shell, *words: str) -> Any:
    done = shell.run(*words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def kept(shell: Shell) -> tuple[list[str], list[str]]:
    """(executions, deployments)"""
    executions = [one["id"] for one in shell.ask("executions", "list")["executions"]]
    return sorted(executions), sorted(one["name"] for one in shell.ask("deployments", "list")["deployments"])


def put_back(shell: Shell, store: Path) -> None:
    """The store as it was before the order."""
    for path in shell.folder.glob("store.db*"):
        if not (store / path.name).exists():
            path.unlink()
    for path in store.glob("store.db*"):
        (shell.folder / path.name).write_bytes(path.read_bytes())  # the same file, or it would be taken for a copy


@pytest.mark.kill
@pytest.mark.parametrize(("before", "order"), ORDERS, ids=["-".join(order[:2]) for _, order in ORDERS])
def test_a_client_killed_at_any_commit_may_ask_again(
    shell: Shell, tmp_path: Path, before: Sequence[Sequence[str]], order: Sequence[str]
) -> None:
    for words in before:
        answer(shell, *words)
    aside = tmp_path / "aside"
    aside.mkdir()
    for path in shell.folder.glob("store.db*"):
        shutil.copy(path, aside)
    wanted = answer(shell, "--request-id", "r-1", *order)
    whole = kept(shell)
    assert wanted.pop("is_repeated") is False
    repeated = []
    for commits in range(MOST):
        put_back(shell, aside)
        if not killed(shell, commits, "--request-id", "r-1", *order):
            break
        found = answer(shell, "--request-id", "r-1", *order)
        repeated.append(found.pop("is_repeated"))
        assert kept(shell) == whole, f"killed after {commits} commits"
        for name in ("id", "status", "counts", "changed", "name", "resources", "executions", "clusters"):
            assert found.get(name) == wanted.get(name), f"{name}, killed after {commits} commits"
    else:
        raise AssertionError("it never ended")
    assert repeated == sorted(repeated), "from the commit on that has the order, it is repeated"
    assert repeated[0] is False
    assert answer(shell, "--request-id", "r-1", *order)["is_repeated"] is True


@pytest.mark.kill
def test_an_engine_killed_at_any_commit_leaves_the_order_to_who_asked(shell: Shell) -> None:
    for commits in range(1, 9):
        name = f"shop-{commits}"
        words = ("--request-id", name, "install", "blueprint.yaml", "-d", name)
        with mortal(shell, commits, "engine", "run") as engine:
            found = answer(shell, *words)
            engine.kill()  # where it makes fewer commits
            engine.communicate()
        assert (found["status"], found["is_repeated"]) == ("completed", False)
        again = answer(shell, *words)
        assert (again["id"], again["is_repeated"]) == (found["id"], True)
    assert len(kept(shell)[0]) == 8


@pytest.mark.kill
def test_of_clients_at_once_one_is_killed_and_the_others_get_one_answer(shell: Shell) -> None:
    answer(shell, "deployments", "create", "blueprint.yaml", "-d", "first")
    for commits in (0, 1, 2, 4):
        name = f"shop-{commits}"
        words = ("--request-id", name, "install", "blueprint.yaml", "-d", name, "--json")
        with ExitStack() as stack:
            doomed = stack.enter_context(mortal(shell, commits, *words))
            clients = [stack.enter_context(shell.start(*words)) for _ in range(2)]
            said = [client.communicate() for client in clients]
            doomed.communicate()
            assert doomed.returncode in {0, -signal.SIGKILL}
        assert [client.returncode for client in clients] == [0, 0], said
        answers = [json.loads(out) for out, _ in said]
        assert len({one["id"] for one in answers}) == 1
        assert {one["status"] for one in answers} == {"completed"}
        assert sum(not one["is_repeated"] for one in answers) <= 1
    assert len(kept(shell)[0]) == 4
