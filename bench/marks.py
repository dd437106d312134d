"""When the clock began, when the first plugin call came, how many there were, and at which one the process dies."""

import json
import os
import time

FIRST: list[float] = []
CALLS: list[int] = [0]
BEGAN: list[float] = []
DIE_AT = int(os.environ.get("BENCH_DIE_AT", "0"))


def note() -> None:
    """Called by each operation of the bench."""
    if not FIRST:
        FIRST.append(time.perf_counter())
    CALLS[0] += 1
    if CALLS[0] == DIE_AT:
        told = json.dumps({"until_death": time.perf_counter() - BEGAN[0]}) + "\n"
        os.write(1, told.encode())  # what plugin code prints goes to the log
        os.kill(os.getpid(), 9)
