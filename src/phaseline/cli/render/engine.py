"""The engine as text: its process, open executions and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.progress.progress import short
from phaseline.cli.render.table import clean, colored, moment, more, number, some

if TYPE_CHECKING:
    from phaseline.embedded.abandoned_calls import GivenUp
    from phaseline.embedded.engine_commands import EngineRun, EngineStatus, StoppedEngine
    from phaseline.views.views import ExecutionView

SHOWN = 20
"""The largest number of open executions listed one by one; the rest is counted."""


def status_text(found: EngineStatus) -> str:
    """Return a text about the engine's process, the process that waits to become the engine, and open executions."""
    if found.is_running:
        who = f"Process {found.pid} ({clean(found.command)})" if found.pid else "Another process"
        lines = [f"{who} is the engine" + (f" since {moment(found.since_at)}" if found.since_at else "")]
    else:
        lines = ["No engine runs. Start one with: phaseline engine run"]
    if found.somebody_waits:
        lines.append("Another process waits to take over")
    if found.unanswered:
        lines.append(
            f"{number(found.unanswered, 'request')} {'has' if found.unanswered == 1 else 'have'} no answer yet"
        )
    return "\n".join([*lines, *_open(found.open)])


def run_text(found: EngineRun) -> str:
    """Return a text about why the engine stopped, which calls it did not await, and what remains open."""
    lines = [f"The engine stopped: {found.reason}; {number(found.calls, 'call')} made", *_given_up(found.given_up)]
    lines += _open(found.open)
    lines += [f"{clean(need.text)}: {need.mend}" for need in found.needs[:SHOWN]]
    told = {word for need in found.needs for word in need.text.split()[:1]}
    others = [id for id in found.waiting if id not in told]
    lines += [f"{id} needs a person: phaseline executions show {id}" for id in others[:SHOWN]]
    return "\n".join([*lines, *(line for view in found.failed[-SHOWN:] for line in _failed(view))])


def _failed(view: ExecutionView) -> list[str]:
    """Return lines about executions that ended without completing, and the command that shows them."""
    from phaseline.model.resources.resources import REACH_WORKFLOW  # brings numpy along

    why = f": {clean(view.reason)}" if view.reason else ""
    look = f"executions show {view.id}"
    if view.workflow == REACH_WORKFLOW:
        look = f"resources list -d {view.deployment} --filter PhaseFailed"
    return [f"  {view.id} of '{view.deployment}' {colored('failed')}{why}", f"      phaseline {look}"]


def stop_text(found: StoppedEngine) -> str:
    """Return a text about the process that stopped, its successor, and what remains open."""
    if not found.pid:
        lines = ["No engine runs."]
    else:
        lines = [f"Process {found.pid} is no longer the engine"]
        if found.successor:
            lines.append(f"Process {found.successor} was waiting and is the engine now")
    return "\n".join([*lines, *_given_up(found.given_up), *_open(found.open)])


def _given_up(found: Sequence[GivenUp]) -> list[str]:
    """Return lines about the calls that were not awaited, and what happens to them."""
    lines = []
    for calls in found[:SHOWN]:
        what = f"{short(calls.operation)} of {some(calls.instances, calls.count)} ({calls.execution})"
        asked = "the next engine will ask what became of " + ("it" if calls.count == 1 else "them")
        then = "the next engine calls again" if calls.is_repeatable else asked
        lines.append(f"  given up: {what}; {then}")
    return [*lines, *((f"  and calls of {len(found) - SHOWN:,} more operations",) if len(found) > SHOWN else ())]


def _open(views: Sequence[ExecutionView]) -> list[str]:
    lines = [f"  {view.id} of '{view.deployment}': {colored(view.status.value)}" for view in views[:SHOWN]]
    return [*lines, *more(len(views) - SHOWN)]
