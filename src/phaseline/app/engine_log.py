"""The engine's log: actions of the owner process and the users that requested them, in a rotated file.

Single entries are not logged: failures are counted and reported every ten seconds. Texts of plugins and inputs are
never written, so the log contains no secrets; the messages are stored with the execution, which only the user of the
store may read. If the log cannot be written, the engine continues, and ``trouble`` has the reason.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.settings import LEVELS, Form, Level, Settings
from phaseline.lang.fast_dataclasses import as_dict

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import Purged
    from phaseline.model.rows.rows import EventRow, ExecutionRow
    from phaseline.ports.clock import Clock

LOG_BYTES = 10 * 1024 * 1024
"""Size in bytes of a log file above which it is renamed before the next line is written."""
LOGS_KEPT = 5
"""Number of renamed log files that are kept, the newest as ``FILE.1``."""
FAILURES_EVERY_MS = 10_000
"""Least time in ms between two lines about the number of failures."""
NAMES_KEPT = 1_000
"""Number of executions whose names are cached."""
TEXT_LENGTH = 1_000
"""Number of characters written of a single text."""
VALUED_WORD = r"(?s)^(--?[\w-]+=|-\w)?([A-Za-z_][\w.-]*)=.+"
VALUED_MAPPING = r"(?s)^(--?[\w-]+=|-\w)?\s*\{.*"
SECRET_OPTION = "--value"  # noqa: S105 - the option, not its value
URL_TO_MASK = r"(?s)^(--?[\w-]+=)?[A-Za-z][\w+.-]*:/.*[@?]"
TOLD: dict[str, tuple[Level, str]] = {
    "workflow_started": ("info", "started"),
    "workflow_resumed": ("info", "resumed"),
    "workflow_succeeded": ("info", "completed"),
    "workflow_failed": ("warning", "failed"),
    "workflow_cancelled": ("warning", "canceled"),
    "retried": ("info", "retry requested"),
    "completed_by_hand": ("info", "calls completed by hand"),
    "cancel_requested": ("info", "cancel requested"),
    "signaled": ("info", "signals given"),
}
"""{event type of a whole execution: (level, text in the log)}; events of other types have no line of their own."""
COUNTED = {"task_failed": "failed", "task_rescheduled": "failed and will be tried again"}
"""{event type of a single call: the words after the number of such events in the log}"""


class EngineLog:
    """The log of one engine. The file is opened again for every line, so that it may be moved at any time."""

    def __init__(self, path: str, clock: Clock, *, level: Level = "info", form: Form = "text") -> None:
        """Log to the file ``path``; if it is empty, write nothing."""
        self.path = path
        self.trouble = ""
        self._clock = clock
        self._least = LEVELS.index(level)
        self._form = form
        self._failures: Counter[tuple[str, str, str]] = Counter()
        self._flushed = 0
        self._names: dict[int, str] = {}

    def write(self, level: Level, event: str, text: str, **facts: str | int) -> None:
        """Write one line. ``facts``: written as separate fields in JSON, and in parentheses in text."""
        if not self.path or LEVELS.index(level) < self._least:
            return
        at = datetime.fromtimestamp(self._clock.now() / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
        if self._form == "json":
            told = {"at": at, "level": level, "pid": os.getpid(), "event": event, "text": text[:TEXT_LENGTH], **facts}
            line = json.dumps(told, ensure_ascii=False)
        else:
            more = ", ".join(f"{name} {value}" for name, value in facts.items() if value != "")
            line = _one_line(
                f"{at} {level.upper():<7} [{os.getpid()}] {text[:TEXT_LENGTH]}" + (f" ({more})" if more else "")
            )
        try:
            _append(self.path, line + "\n")
            self.trouble = ""
        except OSError as error:
            self.trouble = error.strerror or str(error)

    def started(self, command: str, *, user: str) -> None:
        """Log that this process owns the store from now on."""
        from phaseline import __version__

        self.write("info", "engine_started", f"engine started: {command}", user=user, version=__version__)

    def stopped(self, why: str, *, calls: int = 0) -> None:
        """Log that this process no longer owns the store; ``why``: the reason in a few words."""
        self._flush()
        self.write("info", "engine_stopped", f"engine stopped: {why}", calls=calls)

    def recovered(self, rows: Sequence[ExecutionRow]) -> None:
        """Log that these open executions are continued."""
        for row in rows:
            self._names[row.number] = _name(row)
        if rows:
            names = ", ".join(row.id for row in rows[:10]) + (f" and {len(rows) - 10} more" if len(rows) > 10 else "")
            self.write("info", "recovered", f"resumed {len(rows)} open executions: {names}")

    def asked(self, kind: str, execution: str, actor: str, answer: str = "") -> None:
        """Log a request and its answer."""
        self.write("info", "request", f"{kind} {execution}".rstrip(), by=actor, answer=answer)

    def purged(self, removed: Purged, trouble: str) -> None:
        """Log what a round of retention has removed; ``trouble``: why the round ended early, or empty."""
        counts = {name: count for name, count in as_dict(removed).items() if count}
        if counts:
            self.write("info", "purged", "retention removed old data", **counts)
        if trouble:
            self.write("warning", "purge_failed", f"retention ended early: {trouble}")

    def told(self, events: Sequence[EventRow], row_of: Callable[[int], ExecutionRow | None]) -> None:
        """Log the events of executions in a committed turn; ``row_of`` finds an execution by its number."""
        for event in events:
            if event.type in COUNTED:
                self._failures[self._name(event.execution, row_of), event.type, event.operation] += 1
            elif event.type in TOLD:
                level, what = TOLD[event.type]
                if what in {"completed", "failed", "canceled"}:
                    self._flush()
                name = self._name(event.execution, row_of)
                self.write(level, event.type, f"{name} {what}", by=event.actor)
        if self._failures and self._clock.now() - self._flushed >= FAILURES_EVERY_MS:
            self._flush()

    def _flush(self) -> None:
        """Log the number of calls that have failed since the last such line."""
        if not self._failures:
            return
        self._flushed = self._clock.now()
        failures, self._failures = self._failures, Counter()
        for (name, kind, operation), count in failures.items():
            calls = f"{count:,} call{'s' * (count != 1)} of {operation}"
            self.write("warning", kind, f"{name}: {calls} {COUNTED[kind]}", count=count)

    def _name(self, number: int, row_of: Callable[[int], ExecutionRow | None]) -> str:
        """The text ``install-7 of 'shop'``; cached, because the engine forgets an execution when it has ended."""
        if number not in self._names:
            row = row_of(number)
            if row is None:
                return f"execution {number}"
            while len(self._names) >= NAMES_KEPT:
                del self._names[next(iter(self._names))]
            self._names[number] = _name(row)
        return self._names[number]


def open_log(settings: Settings, clock: Clock) -> EngineLog:
    """Return the log that the settings name, or a log that writes nothing."""
    return EngineLog(settings.log_file, clock, level=settings.log_level, form=settings.log_format)


def without_values(words: Sequence[str]) -> str:
    """Return the words of a command without values of inputs and passwords, for logs and for other users.

    >>> without_values(["phaseline", "install", "a.yaml", "-i", "key=hush", "--input=key=hush", "--store=sqlite:///a.db"])
    'phaseline install a.yaml -i key=… --input=key=… --store=sqlite:///a.db'
    >>> without_values(["install", "a.yaml", "-i", '{"key": "hush"}'])
    'install a.yaml -i {…}'
    >>> without_values(["secrets", "create", "key", "--value", "hush", "--value=hush"])
    'secrets create key --value … --value=…'
    >>> without_values(["--store", "postgresql://ann:hush@host/db"])
    '--store postgresql://…@host/db'
    >>> without_values(["--store=postgresql://host/db?password=hush", "deployments", "list"])
    '--store=postgresql://host/db?… deployments list'
    """
    told = [
        "…" if before == SECRET_OPTION else word if not word.startswith(f"{SECRET_OPTION}=") else f"{SECRET_OPTION}=…"
        for before, word in pairwise(("", *words))
    ]
    return " ".join(_without_value(word) for word in told)


def _without_value(word: str) -> str:
    """Return one word of a command without its value. A quick test finds the many words that have no value."""
    if "{" in word:
        word = re.sub(VALUED_MAPPING, r"\1{…}", word)
    if ":/" in word and re.match(URL_TO_MASK, word):
        from phaseline.lang.masked_urls import masked  # few commands have a URL

        return masked(word)
    return re.sub(VALUED_WORD, r"\1\2=…", word) if "=" in word else word


def _name(row: ExecutionRow) -> str:
    return f"{row.id} of '{row.deployment_name}'"


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _append(path: str, line: str) -> None:
    """Add a line to a file; a file that has become too large is renamed first."""
    try:
        if os.stat(path).st_size > LOG_BYTES:  # noqa: PTH116 - as text, three times a command
            _put_aside(Path(path))
    except FileNotFoundError:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(handle)


def _put_aside(path: Path) -> None:
    for number in range(LOGS_KEPT, 0, -1):
        newer = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
        if newer.exists():
            newer.replace(path.with_name(f"{path.name}.{number}"))
