"""Run in a process of its own: install a Component, and end with SIGKILL after so many steps of the database.

Arguments: file of the store, file of the blueprint, number of steps (0: print how many there are), words of the command.
"""

from __future__ import annotations

import os
import signal
import sys

import phaseline

STEP = 200
"""Instructions of SQLite between two counts."""


def run(store: str, blueprint: str, last: int) -> None:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    with phaseline.open(f"sqlite:///{store}") as client:
        client.app.store.connections.writer().set_progress_handler(count, STEP)
        done = client.executions.install(blueprint, "app", task_retries=0)
        print(done.status, steps)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
