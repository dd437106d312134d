"""Executions as text: lists, and the result of one with its failures and the next commands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.table import (
    cancel,
    clean,
    colored,
    counted,
    left_out,
    moment,
    more,
    number,
    one_line,
    some,
    table,
    took,
)
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.views.views import ExecutionTree, ExecutionView, Failure, Line, Page

SHOWN_DECISIONS = 10
"""Largest number of people's decisions that are shown; if there are more, the last ones."""
SHOWN_FAILURES = 20
"""The largest number of failures shown one by one; the rest is counted."""
ALIKE = 3
"""Number of failures with equal messages from which on they are shown as one group."""
NAMED = 5
"""Largest number of instances named for a group of failures."""


def execution_list(page: Page[ExecutionView]) -> str:
    """Return a table of executions, the latest first."""
    if not page.total:
        return "No executions. Start one with: phaseline install blueprint.yaml"
    columns: Columns[ExecutionView] = {
        "id": lambda view: view.id,
        "deployment": lambda view: view.deployment,
        "status": lambda view: (
            f"{view.status.value}, waits for {view.waits_for}" if view.waits_for else view.status.value
        ),
        "created": lambda view: moment(view.created_at),
        "took": lambda view: took(view.ended_at - view.started_at) if view.ended_at and view.started_at else None,
        "by": lambda view: view.created_by,
    }
    return table(columns, page.items) + left_out(page)


def execution_tree(found: ExecutionTree) -> str:
    """Return a line for each execution, indented by its level."""
    lines = []
    for one in found.executions:
        why = f"  {clean(one.reason.splitlines()[0])}" if one.reason else ""
        by = f" ← {clean(one.caused_by)}" if one.level and one.caused_by else ""
        lines.append(f"{'  ' * one.level}{one.id} of '{one.deployment}': {colored(one.status.value)}{by}{why}")
    return "\n".join(lines)


def execution_text(view: ExecutionView, *, with_people: bool = True) -> str:
    """Return a text with all about one execution, users' requests, and the next commands if it is not completed."""
    lasted = f" in {took(view.ended_at - view.started_at)}" if view.ended_at and view.started_at else ""
    lines = [f"{view.id} of '{view.deployment}': {colored(view.status.value)}{lasted}"]
    lines.extend(f"  {clean(line)}" for line in view.reason.splitlines())
    if view.waits_for:
        lines.append(f"  waits for {view.waits_for}, which has a claim on the same instances")
    if view.caused_by:
        lines.append(f"  started by {clean(view.caused_by)}")
    if view.stopped:
        see = f"phaseline breakpoints list -d {view.deployment}"
        lines.append(f"  waits for a person: {number(view.stopped, 'instance')} at breakpoints: {see}")
    if view.plan:
        lines.append(f"  carries out {view.plan}: phaseline plans show {view.plan}")
    lines.extend(f"  {colored('warning')}  {clean(text)}" for text in view.warnings)
    lines.extend(f"  {clean(text)}" for text in view.waits)
    if with_people:
        lines.extend(f"  {line}" for line in [*_decisions(view), *_decided(view)])
    if view.counts:
        lines.append(f"  steps: {counted(view.counts)}")
    if view.hook_counts:
        lines.append(f"  hooks: {counted(view.hook_counts)}{f' in {took(view.hook_ms)}' if view.hook_ms else ''}")
    if view.failure_count:
        lines.extend(_failures(view.failures, view.failure_count))
    if view.failing_count:
        lines.extend(_failing(view))
    lines.extend(f"  {line}" for line in what_next(view))
    return "\n".join(lines)


def _failing(view: ExecutionView) -> list[str]:
    """Return lines about calls that failed and are retried.

    If they fail alike each time, also name the command that ends the retries.
    """
    from phaseline.cli.render.progress.progress import failing_call_text

    lines = [f"  {failing_call_text(call, view.now_at)}" for call in view.failing[:SHOWN_FAILURES]]
    lines += more(view.failing_count - len(lines), "; all of them: add --json")
    if any(call.is_repeated for call in view.failing):
        lines.append(f"  the same failure again; end the retries: {cancel(view.id)}")
    return lines


def _decisions(view: ExecutionView) -> list[str]:
    """Return lines about the user that started the execution, and the requests of people since then."""
    lines = [f"started by {view.created_by}, {moment(view.created_at)}"]
    for decision in view.decisions[-SHOWN_DECISIONS:]:
        refused = ", refused" if decision.is_refused else ""
        details = f": {clean(decision.details)}" if decision.details else ""
        lines.append(f"{decision.what} by {decision.actor}, {moment(decision.at)}{refused}{details}")
    return lines


def _decided(view: ExecutionView) -> list[str]:
    """Return lines with the decisions of hook classes; instances with equal decisions share a line."""
    alike: dict[str, list[str]] = {}
    for instance, decided in view.decided.items():
        alike.setdefault(json.dumps(decided, sort_keys=True, ensure_ascii=False), []).append(instance)
    return [
        f"decided for {_named(names)}: {clean(decided)}" for decided, names in list(alike.items())[:SHOWN_DECISIONS]
    ]


def _named(names: Sequence[str]) -> str:
    return some([clean(name) for name in names[:NAMED]], len(names))


def _failures(failures: Sequence[Failure], total: int) -> list[str]:
    """Return lines about each failure, or one entry for many failures with equal messages."""
    from phaseline.model.problems.fingerprint import group_key

    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        key = (failure.status, group_key(failure.operation, failure.message, failure.instance))
        groups.setdefault(key, []).append(failure)
    told = [[one] for group in groups.values() if len(group) < ALIKE for one in group]
    told = [*(group for group in groups.values() if len(group) >= ALIKE), *told][:SHOWN_FAILURES]
    lines = [line for group in told for line in (_alike(group) if len(group) >= ALIKE else _failure(group[0]))]
    return [*lines, *more(total - sum(map(len, told)), "; all of them: add --json")]


def _failure(failure: Failure) -> list[str]:
    subject = failure.instance + (f" -> {failure.target}" if failure.target else "")
    tried = f" after {number(failure.attempts, 'retry')}".replace("retrys", "retries") if failure.attempts else ""
    return [f"  {colored(failure.status)}  {subject}  {_what(failure)}{tried}", *_last_lines(failure)]


def _what(failure: Failure) -> str:
    """Return the failed operation, with the function mapped to it."""
    return failure.operation + (f" ({clean(failure.function)})" if failure.function else "")


def _alike(group: Sequence[Failure]) -> list[str]:
    first = group[0]
    names = _named([one.instance for one in group])
    head = f"  {colored(first.status)}  {len(group):,} × {_what(first)}"
    return [head, *_last_lines(first), f"      {names}"]


def _last_lines(failure: Failure) -> list[str]:
    return [f"      {clean(line)}" for line in failure.message.strip().splitlines()[-3:]]


def what_next(view: ExecutionView) -> list[str]:
    """Return the commands that an operator needs next."""
    id = view.id
    if view.status is ExecutionStatus.ATTENTION:
        return [
            "These calls were running when the engine or their process died, so it is unknown whether they were carried out. Check, then either",
            f"  phaseline executions retry {id}                                   call them again",
            f'  phaseline executions complete {id} --instance ID --reason "…"     they were carried out',
        ]
    if view.status is ExecutionStatus.FAILED:
        return [
            f"logs:  phaseline executions logs {id}",
            f"retry: phaseline executions retry {id}",
        ]
    if view.status is ExecutionStatus.CANCELED:
        return [f"continue it after all: phaseline executions retry {id}"]
    if view.runner or view.background is not None:
        runs = [f"{view.runner} is at work on the store"] if view.runner else []
        return [*runs, f"follow it: phaseline executions follow {id}", f"stop it: {cancel(id)}"]
    if not view.status.is_ended:
        running = view.counts.get("running", 0)
        ended = [f"the engine ended while {number(running, 'step')} ran"] if running else []
        return [*ended, f"resume it: phaseline executions resume {id}", f"stop it: {cancel(id)}"]
    return []


def result_text(view: ExecutionView, hints: Sequence[str] = ()) -> str:
    """Return the final output of a command that has run an execution."""
    text = execution_text(view, with_people=False)
    if view.interrupted:
        text = f"Interrupted: no new call was started here, the running ones have returned.\n{text}"
    if view.background is not None:
        hints = [str(view.background), *hints]
    return "\n".join([text, *hints])


def log_text(lines: Sequence[Line]) -> str:
    """Return lines of scripts and plugins as text: time, origin, message."""
    if not lines:
        return "No log lines."
    stamps = _stamps(lines)
    return "\n".join(
        f"{stamps[line.at // 1000]} {line.level.upper():<7} [{_who(line)}] {clean(line.text)}" for line in lines
    )


def _stamps(lines: Sequence[Line]) -> dict[int, str]:
    """Return {second: its text in local time}, so that thousands of lines within a few seconds share these texts."""
    return {second: moment(second * 1000) for second in {line.at // 1000 for line in lines}}


ASKED = {"retried", "completed_by_hand", "cancel_requested", "signaled"}
"""Events that Cloudify does not have; their lines name the user that requested them."""


def event_text(lines: Sequence[Line]) -> str:
    """Return lines in the form of Cloudify's console (W12).

    The form is ``<date> <time> CFY <deployment> [<instance>.<operation>] <message>``.
    """
    if not lines:
        return "No events."
    stamps = _stamps(lines)
    return "\n".join([_event(line, stamps[line.at // 1000]) for line in lines])


def _event(line: Line, stamp: str) -> str:
    who = _who(line)
    asked = f" (by {line.actor})" if line.actor and line.level in ASKED else ""
    head = f"{stamp}.{line.at % 1000:03d} CFY <{line.deployment}> "
    return head + (f"[{who}] " if who else "") + one_line(line.text) + asked


def _who(line: Line) -> str:
    """Return ``instance.operation``; for a relationship ``source->target|operation``, as in Cloudify."""
    operation = line.operation.rpartition(".")[2]
    if not line.instance or not operation:
        return line.instance or operation
    return f"{line.instance}{'|' if '->' in line.instance else '.'}{operation}"
