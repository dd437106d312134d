"""When the clock began, when the first plugin call came, how many there were, and at which one the process dies."""

import json
import os
import resource
import threading
import time

FIRST: list[float] = []
FIRST_CPU: list[float] = []
CALLS: list[int] = [0]
BEGAN: list[float] = []
"""When the clock began, and the processor time until then (``processor``)."""
SPANS: list[tuple[str, float, float]] = []
"""(phase, when a call of it began, when it ended)."""
SLEEPERS = int(os.environ.get("BENCH_SLEEPERS", "0"))
POLLS, IDLE_S, SETTLE_S, STIR_S, PAUSE_S = 20, 5.0, 1.5, 0.5, 0.02
ASLEEP: dict[str, float] = {"members": 0, "calls": 0}
DIE_AT = int(os.environ.get("BENCH_DIE_AT", "0"))


def processor() -> float:
    """Seconds that processors have worked for this process and for those that it has started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def note() -> None:
    """Called by each operation of the bench."""
    if not FIRST:
        FIRST.append(time.perf_counter())
        FIRST_CPU.append(processor())
    CALLS[0] += 1
    if CALLS[0] == DIE_AT:
        took = {"until_death": time.perf_counter() - BEGAN[0], "processor": processor() - BEGAN[1]}
        told = json.dumps(took) + "\n"
        os.write(1, told.encode())  # what plugin code prints goes to the log
        os.kill(os.getpid(), 9)


def _stir() -> None:
    ASLEEP["stirred"], ASLEEP["stirred_cpu"] = time.perf_counter(), time.process_time()


def polled(members: int) -> float | None:
    """Seconds until these sleepers are to be called again; None when all have been polled ``POLLS`` times.

    After the first call they sleep long, so that the idle time of the process can be taken: from when all sleep and
    have been stored until shortly before the first of them wakes. The waking itself is counted with the polls.
    """
    if ASLEEP["members"] == SLEEPERS and "woken" not in ASLEEP:
        ASLEEP["woken"], ASLEEP["calls"] = time.perf_counter(), 0
    ASLEEP["members"] += members
    ASLEEP["calls"] += 1
    if ASLEEP["members"] == SLEEPERS:
        threading.Timer(SETTLE_S, _fall_asleep).start()
        threading.Timer(IDLE_S - STIR_S, _stir).start()
    if ASLEEP["members"] <= SLEEPERS:
        return IDLE_S
    return PAUSE_S if ASLEEP["members"] <= SLEEPERS * POLLS else None


def _fall_asleep() -> None:
    ASLEEP["idle"], ASLEEP["idle_cpu"] = time.perf_counter(), time.process_time()
