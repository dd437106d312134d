"""The verdict of an execution, computed from its settled rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.execution import TOLERATED, Verdict
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.model.execution.execution import History, Round


def settled(history: History, name: str) -> Round | None:
    """Return the last settled round called ``name`` in the present attempt; None if there is none."""
    found = [done for done in history.rounds if done.attempt == history.attempt and done.name == name]
    return found[-1] if found else None


def verdict(history: History, done: Round) -> Verdict:
    """Return the verdict after the round ``done``: its status, with a reason that counts the failures."""
    reason = counted(done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED, reason)
    if done.counts.get("unsure", 0):
        return Verdict(ExecutionStatus.ATTENTION, reason)
    if not done.is_met:
        return Verdict(ExecutionStatus.FAILED, reason)
    return Verdict(ExecutionStatus.COMPLETED, reason)


def counted(done: Round) -> str:
    """Return the failures of a round in words; empty without failures.

    >>> from phaseline.model.execution.execution import Round
    >>> counted(Round("install", 0, {"completed": 5, "failed": 1, "skipped": 3}))
    '1 operation failed, 3 steps that depend on it were skipped'
    """
    failed, unsure, skipped, canceled = (
        done.counts.get(word, 0) for word in ("failed", "unsure", "skipped", "canceled")
    )
    tolerated = done.counts.get(TOLERATED, 0)
    parts = []
    if failed:
        parts.append(f"{_number(failed, 'operation')} failed")
    if unsure:
        parts.append(f"of {_number(unsure, 'operation')} it is not known whether {_were(unsure)} carried out")
    if skipped:
        verb, whom = "depends" if skipped == 1 else "depend", "it" if failed + unsure == 1 else "them"
        cause = f" that {verb} on {whom}" if failed + unsure else ""
        parts.append(f"{_number(skipped, 'step')}{cause} {_was(skipped)} skipped")
    if canceled:
        parts.append(f"{_number(canceled, 'step')} {_was(canceled)} canceled")
    if tolerated:
        parts.append(f"{_number(tolerated, 'failure')} {_was(tolerated)} ignored")
    return ", ".join(parts)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _were(count: int) -> str:
    return "it was" if count == 1 else "they were"
