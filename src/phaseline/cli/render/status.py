"""The state of the whole store as one screen of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.progress.progress import retry_text, short
from phaseline.cli.render.table import colored, counted, moment, more, number, span, table

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.queries.status import ExecutionProgress, Status
    from phaseline.views.views import DeploymentView, FailingCall

SHOWN_EXECUTIONS = 10
"""Largest number of executions listed one by one; the rest is counted."""


def size(count: int) -> str:
    """Return a number of bytes in a unit that people can read easily.

    >>> size(0), size(4_096), size(3_500_000_000)
    ('0 B', '4.0 KiB', '3.3 GiB')
    """
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def status_text(found: Status) -> str:
    """Return a text about the store, the engine, open executions, due work, and decisions that await a person."""
    if found.deployment is not None:
        return _of_deployment(found, found.deployment)
    log = f" and a write-ahead log of {size(found.store.log_bytes)}" if found.store.log_bytes else ""
    lines = [
        f"store    {found.store.url}, {size(found.store.size_bytes)}{log}, schema {found.store.schema}",
        f"engine   {_engine(found)}",
        f"open     {_open(found)}",
    ]
    return "\n".join([*lines, *_of_schedules(found), *_of_executions(found)])


def _of_schedules(found: Status) -> list[str]:
    """Return lines about what schedules will start, and the times that they have missed."""
    lines = [
        f"due      {moment(one.at)}: {one.workflow} of '{one.deployment}' ({one.schedule})" for one in found.upcoming
    ]
    if found.missed_count:
        times = number(found.missed_count, "time")
        lines.append(f"missed   {times} of schedules: phaseline schedules history NAME -d DEPLOYMENT")
    return lines


def _of_deployment(found: Status, view: DeploymentView) -> str:
    latest = f"{view.latest_execution} ({view.latest_status})" if view.latest_execution else "no execution"
    lines = [
        f"{view.name}: {colored(view.status)}",
        f"has      {number(view.instance_count, 'instance')}: {counted(view.states)}",
        f"latest   {latest}",
        *([f"left     {view.unfinished}: phaseline executions retry {view.unfinished}"] if view.unfinished else []),
        f"engine   {_engine(found)}",
        f"open     {_open(found)}",
    ]
    return "\n".join([*lines, *_of_executions(found)])


def _of_executions(found: Status) -> list[str]:
    """Return lines about unanswered requests, the progress of executions, and decisions that await a person."""
    lines = []
    if found.request_count:
        lines.append(f"asked    {number(found.request_count, 'request')} without an answer")
    if found.counts:
        lines.append(f"steps    {counted(found.counts)}")
    if found.due_at:
        left = found.due_at - found.now_at
        lines.append(
            f"next     due {'in ' + span(left) if left > 0 else 'since ' + span(-left)}, {moment(found.due_at)}"
        )
    lines += [f"failing  {_failing(call, found.now_at)}" for call in found.failing]
    if found.failing_count > len(found.failing):
        more = number(found.failing_count - len(found.failing), "more call")
        lines.append(f"failing  {more}: phaseline instances stuck")
    if found.overdue_count:
        lines.append(f"overdue  {number(found.overdue_count, 'call')}")
    if found.unsure_count:
        lines.append(f"unsure   {number(found.unsure_count, 'call')}")
    if found.executions:
        lines += ["", _table(found)]
    return [*lines, "", *_needs(found)]


def _failing(call: FailingCall, now: int) -> str:
    again = retry_text(call.attempts, call.max_retries, call.due_at, call.message, now)
    return f"{call.instance} {short(call.operation)} of '{call.deployment}': {again}".lstrip()


def _engine(found: Status) -> str:
    engine = found.engine
    if engine is None:
        return (
            f"none; start one with: {found.start}" if found.open_count else "none; commands start one when they need it"
        )
    if not engine.pid:
        return "a process that does not report its id"
    return f"process {engine.pid} for {span(found.now_at - engine.since_at)}: {engine.command}"


def _open(found: Status) -> str:
    if not found.open_count:
        return "no execution"
    of_them = "" if found.queued_count == found.open_count else f"{found.queued_count:,} of them "
    queued = f", {of_them}not started" if found.queued_count else ""
    looked = (
        f"; the numbers below are of the {found.looked_into:,} oldest" if found.looked_into < found.open_count else ""
    )
    return number(found.open_count, "execution") + queued + looked


def _table(found: Status) -> str:
    now = found.now_at
    columns: Columns[ExecutionProgress] = {
        "id": lambda one: one.id,
        "deployment": lambda one: one.deployment,
        "status": lambda one: one.status.value,
        "steps": lambda one: f"{one.ended:,} of {one.total:,}" if one.total else "-",
        "next": lambda one: (f"in {span(one.due_at - now)}" if one.due_at > now else "now") if one.due_at else "-",
        "by": lambda one: one.created_by,
        "for": lambda one: span(now - one.created_at),
    }
    shown = found.executions[:SHOWN_EXECUTIONS]
    left = found.open_count - len(shown)
    return table(columns, shown) + (f"\nand {left:,} more: phaseline executions list" if left else "")


def _needs(found: Status) -> list[str]:
    if not found.needs:
        return ["Nothing needs a person."]
    lines = ["Needs a person:"]
    for need in found.needs:
        lines += [f"  {need.text}", f"      {need.mend}"]
    return [*lines, *more(found.need_count - len(found.needs), ": phaseline instances stuck")]
