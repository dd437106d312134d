"""Processes of calls: they die with the engine, are found again by a mark, and end with all processes they started.

The mark is the environment variable ``PHASELINE_CALL``. Every process that a call starts inherits it, even in a
session of its own. Linux only: the module uses parent-death signals and /proc.
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

MASTER_KEY = "PHASELINE_SECRETS_KEY"
"""Environment variable with the master key of secrets."""
MARK = "PHASELINE_CALL"
"""Environment variable by which processes of a call are found."""
PR_SET_PDEATHSIG = 1
FLAGS = 6
"""The index of the flags in the list that ``_stat`` returns, which begins with the state."""
OF_THE_KERNEL = 0x00200000
"""The flag of kernel threads in the flags of a process; kernel threads have no environment."""
LARGEST_ENVIRONMENT = 8 << 20
"""Upper limit in bytes for the size of a process's environment; the kernel allows less."""
ENVIRONMENT = slice(47, 49)
"""Fields of /proc/PID/stat with the start and end address of the environment, counted from the state field.

Both are 0 until the process has a program.
"""
CODE_ENDS = 24
"""Field of /proc/PID/stat with the end address of the program's code: 0 until the kernel has filled the environment."""
LOOK_EVERY_S = 0.02
"""Seconds between two checks while waiting for processes."""
STARTED_S = 1.0
"""Seconds that a process may take to start another program; meanwhile its environment cannot be read."""
LEAST_LOOKS = 50
"""Number of looks at a process that starts another program, whatever they take: the machine itself may have stopped."""
GRACE_S = 5.0
"""Seconds between SIGTERM and SIGKILL (decision 2)."""
DRAIN_S = 5.0
"""Seconds that processes of calls get to end after their execution has ended."""


def plugin_environment() -> dict[str, str]:
    """Return the environment for processes that run plugin code: that of this process without the master key."""
    return {name: value for name, value in os.environ.items() if name != MASTER_KEY}


def die_with_parent(parent: int | None = None) -> None:
    """Let the kernel kill this process when the thread that started it ends; end at once if ``parent`` has ended."""
    import ctypes  # only processes of calls pay for it

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def marked(wanted: Callable[[str], bool]) -> dict[int, str]:
    """Return {process id: mark} of this user's processes with a wanted mark. Wait for processes that are starting."""
    found: dict[int, str] = {}
    left, until = _process_ids(), time.monotonic() + STARTED_S
    pause, looks = threading.Event(), 0
    while True:
        marks, looks = {pid: _mark_of(pid) for pid in left}, looks + 1
        found |= {pid: mark for pid, mark in marks.items() if mark and wanted(mark)}
        left = [pid for pid, mark in marks.items() if mark is None]
        if not left or (looks >= LEAST_LOOKS and time.monotonic() > until):
            break
        pause.wait(LOOK_EVERY_S / 10)
    return found


def _mark_of(pid: int) -> str | None:
    """Return the mark of a process: '' without one or without access, None while it starts another program."""
    prefix = f"{MARK}=".encode()
    try:
        environment = _environment(pid)
    except OSError:
        return ""
    if not environment:
        return None if _is_being_started(pid) else ""
    if prefix not in environment:
        return ""
    own = (entry for entry in environment.split(b"\0") if entry.startswith(prefix))
    return next((entry[len(prefix) :].decode("utf-8", "replace") for entry in own), "")


def _environment(pid: int) -> bytes:
    """Read the environment in one system call; between two, the process might start another program."""
    file = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, LARGEST_ENVIRONMENT)
    finally:
        os.close(file)


def _is_being_started(pid: int) -> bool:
    """Return True if the environment of a process was empty because its program is only starting."""
    fields = _stat(pid)
    if fields is None or fields[0] in "ZX" or int(fields[FLAGS]) & OF_THE_KERNEL:
        return False
    begin, end = fields[ENVIRONMENT]
    return begin != end or fields[CODE_ENDS] == "0"


def family(wanted: Callable[[str], bool]) -> set[int]:
    """Return the ids of processes with a wanted mark, and of all processes in sessions that such a process leads."""
    own = os.getpid()
    leaders = set(marked(wanted)) - {own}
    if not leaders:
        return set()
    return leaders | {pid for pid in _process_ids() if pid != own and _session(pid) in leaders}


def end(wanted: Callable[[str], bool], *, grace_s: float = GRACE_S, spare: Iterable[int] = ()) -> int:
    """End the processes with a mark for which ``wanted(mark)`` is True, and all processes in sessions that they lead.

    Send SIGTERM, then SIGKILL after ``grace_s`` seconds (0: at once). ``spare`` are ids of processes that are left
    alone, because their owner ends them. Return the number of processes that were found.
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
        send(left, signal.SIGSTOP)  # so that no process continues because another one of the group ended
        send(left, signal.SIGKILL)
        await_end(partial(_living, left), 1.0)
    return len(first)


def _living(pids: set[int]) -> set[int]:
    return {pid for pid in pids if is_alive(pid)}


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to the processes that still exist."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def await_end(living: Callable[[], set[int]], timeout_s: float) -> bool:
    """Wait until no process is alive and return True, or return False after the timeout."""
    until = time.monotonic() + timeout_s
    pause = threading.Event()
    while living():
        if time.monotonic() >= until:
            return False
        pause.wait(LOOK_EVERY_S)
    return True


def is_alive(pid: int) -> bool:
    """Return True if the process exists and is not a zombie."""
    fields = _stat(pid)
    return fields is not None and fields[0] != "Z"


def _session(pid: int) -> int:
    fields = _stat(pid)
    return -1 if fields is None or fields[0] == "Z" else int(fields[3])


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat after the name: state, parent, group, session ..."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _process_ids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - a hundred thousand paths cost
