"""The timeline of an execution as text: a bar for each phase, then the critical path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import colored, moment, number, took

if TYPE_CHECKING:
    from phaseline.use_cases.queries.events.timeline import CriticalCall, RoundTime, Timeline

BAR = 40
"""Width in characters of the bar for the whole time of a round."""
SHOWN_CALLS = 15
"""Largest number of a critical path's calls that are shown: the longest ones, in their order. All are counted."""


def timeline_text(found: Timeline) -> str:
    """Return the timeline, round by round."""
    total = (found.ended_at or found.now_at) - found.started_at if found.started_at else 0
    lines = [f"{found.execution} of '{found.deployment}': {colored(found.status)}, {took(total)}"]
    if found.started_at:
        lines.append(
            f"  started {moment(found.started_at)}, {took(found.started_at - found.created_at)} after the request"
        )
    for one in found.rounds:
        lines += ["", *_round(one)]
    if not found.rounds:
        lines.append("  Nothing was called.")
    return "\n".join(lines)


def _round(one: RoundTime) -> list[str]:
    attempt = f", attempt {one.attempt + 1}" if one.attempt else ""
    lines = [f"{one.name}{attempt}: {took(one.ended_at - one.began_at)} from the first call to the end of the last"]
    width = max(len(_short(phase.phase)) for phase in one.phases)
    for phase in one.phases:
        bar = _bar(phase.began_at - one.began_at, phase.ended_at - one.began_at, one.ended_at - one.began_at)
        what = f"{took(phase.busy_ms):>8}  {number(phase.entries, 'entry').replace('entrys', 'entries')} in {number(phase.calls, 'call')}"
        lines.append(f"  {_short(phase.phase):<{width}}  {bar}  {what}")
    return [*lines, *_critical(one)]


def _critical(one: RoundTime) -> list[str]:
    path = one.critical_path
    waited = sum(call.waited_ms for call in path)
    ran = sum(call.took_ms for call in path)
    head = f"  decided by {number(len(path), 'call')} one after the other: {took(ran)} in calls, {took(waited)} between them"
    by_length = sorted(path, key=lambda call: call.took_ms + call.waited_ms, reverse=True)[:SHOWN_CALLS]
    shown = [call for call in path if call in by_length]
    left = len(path) - len(shown)
    more = [f"    and {left:,} shorter ones; all of them: add --json"] if left else []
    return [head, *(f"    {_call(call)}" for call in shown), *more]


def _call(call: CriticalCall) -> str:
    waited = f", after waiting {took(call.waited_ms)}" if call.waited_ms else ""
    return f"{took(call.took_ms):>8}  {call.instance}  {_short(call.phase)}{waited}"


def _bar(begin: int, end: int, total: int) -> str:
    """Return a bar that marks the part of a round's time which a phase takes, at least one character of it.

    >>> _bar(10, 20, 40)
    '··········██████████····················'
    """
    scale = BAR / max(1, total)
    first = min(BAR - 1, int(begin * scale))
    last = max(first + 1, min(BAR, round(end * scale)))
    return "·" * first + "█" * (last - first) + "·" * (BAR - last)


def _short(phase: str) -> str:
    """Return the last two parts of an operation's name.

    >>> _short("cloudify.interfaces.lifecycle.create")
    'lifecycle.create'
    """
    return ".".join(phase.split(".")[-2:])
