"""Stores in files, and other processes that use them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.started import Process
from tests.store import builders as a

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]


def refusal(caught: pytest.ExceptionInfo[ProblemsError]) -> tuple[str, str]:
    """(code, text) of the one problem."""
    (problem,) = caught.value.problems
    assert problem.mend
    return problem.code, f"{problem}"


def stored(path: Path, clock: a.FakeClock) -> None:
    """A store with a deployment named shop, closed."""
    store = SqliteStore.open(path, clock)
    store.create_deployment(a.deployment(), a.execution())
    store.close()


def python(code: str, *arguments: object) -> Process:
    """A process that runs ``code`` with the project at hand."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    return Process(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment)


def interrupted(work: Callable[[], object], number: int) -> int:
    """Do it in a process that dies at the n-th thing that it asks of the operating system or of SQLite; its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    asked = 0

    def count(event: str, _arguments: tuple[object, ...]) -> None:
        nonlocal asked
        if event.startswith(("open", "os.", "sqlite3.", "shutil.", "fcntl.")):
            asked += 1
            if asked == number:
                os._exit(9)

    sys.addaudithook(count)
    try:
        work()
    finally:
        os._exit(0)
