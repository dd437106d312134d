"""Processes of calls: started so that they die with the engine, found again by a mark, ended with all they started.

The mark is the environment variable ``PHASELINE_CALL``: whatever a call starts inherits it, in sessions of its
own too. Linux only: parent-death signals and /proc.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

MARK = "PHASELINE_CALL"
"""Environment variable by which processes of a call are found."""
PR_SET_PDEATHSIG = 1
LOOK_EVERY_S = 0.02
"""How often a wait for processes looks again."""
GRACE_S = 5.0
"""Time between SIGTERM and SIGKILL (decision 2)."""


def die_with_parent(parent: int | None = None) -> None:
    """Let the kernel kill this process when the thread that started it ends; at once if ``parent`` is gone already."""
    import ctypes  # only processes of calls pay for it

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def marked(wanted: Callable[[str], bool]) -> dict[int, str]:
    """{process id: mark} of the processes of this user whose mark is wanted."""
    prefix = f"{MARK}=".encode()
    found: dict[int, str] = {}
    for pid in _process_ids():
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            if prefix not in environment:
                continue
            for entry in environment.split(b"\0"):
                if entry.startswith(prefix):
                    mark = entry[len(prefix) :].decode("utf-8", "replace")
                    if wanted(mark):
                        found[pid] = mark
                    break
    return found


def family(wanted: Callable[[str], bool]) -> set[int]:
    """Marked processes, and what they lead: members of sessions whose leader is marked, without their environment too."""
    own = os.getpid()
    leaders = set(marked(wanted)) - {own}
    if not leaders:
        return set()
    return leaders | {pid for pid in _process_ids() if pid != own and _session(pid) in leaders}


def end(wanted: Callable[[str], bool], *, grace_s: float = GRACE_S, spare: Iterable[int] = ()) -> int:
    """End the family: SIGTERM, and SIGKILL for those that are left after ``grace_s`` (0: at once). How many there were.

    ``spare``: processes that their owner ends himself.
    """
    spared = set(spare)
    first = family(wanted) - spared
    if not first:
        return 0
    if grace_s > 0:
        send(first, signal.SIGTERM)
        if await_end(lambda: family(wanted) - spared, grace_s):
            return len(first)
    # What is forked while we look is found by looking again.
    for _ in range(3):
        left = family(wanted) - spared
        if not left:
            break
        send(left, signal.SIGKILL)
        await_end(partial(_living, left), 1.0)
    return len(first)


def _living(pids: set[int]) -> set[int]:
    return {pid for pid in pids if is_alive(pid)}


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to those that are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def await_end(living: Callable[[], set[int]], timeout_s: float) -> bool:
    """True as soon as nobody lives any more; False after the timeout."""
    until = time.monotonic() + timeout_s
    pause = threading.Event()
    while living():
        if time.monotonic() >= until:
            return False
        pause.wait(LOOK_EVERY_S)
    return True


def is_alive(pid: int) -> bool:
    """True for a process that is there and no zombie."""
    fields = _stat(pid)
    return fields is not None and fields[0] != "Z"


def _session(pid: int) -> int:
    fields = _stat(pid)
    return -1 if fields is None or fields[0] == "Z" else int(fields[3])


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the name: state, parent, group, session ..."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _process_ids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - a hundred thousand paths cost
