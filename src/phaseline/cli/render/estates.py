"""Many deployments as text: dependencies between them, groups of them, and runs over groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text
from phaseline.cli.render.table import clean, colored, facts, moment, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.queries.estate.dependencies import DependenciesView, DependencyBranch, DependencyView
    from phaseline.use_cases.queries.estate.group_runs import RunEvent, RunEvents, RunFailure, RunFailures, RunView
    from phaseline.use_cases.queries.estate.groups import GroupView

NO_GROUPS = "No deployment groups yet. Make one:\n  phaseline groups create NAME --blueprint FILE --count N"
SHOWN = 20
"""Most members that the text names; all are in the JSON document."""


def dependencies_text(view: DependenciesView) -> str:
    """Return what a deployment reads, and what reads it, as tables or as trees."""
    parts = []
    if view.of is not None:
        title = f"'{view.deployment}' reads" if view.of else f"'{view.deployment}' reads no other deployment"
        body = _table(view.of, "provider") if view.providers is None else _tree(view.providers)
        parts.append(f"{title}:\n{body}" if view.of else title)
    if view.on is not None:
        title = f"'{view.deployment}' is read by" if view.on else f"no other deployment reads '{view.deployment}'"
        body = _table(view.on, "consumer") if view.consumers is None else _tree(view.consumers)
        parts.append(f"{title}:\n{body}" if view.on else title)
    return "\n".join(parts)


def _table(rows: Sequence[DependencyView], first: str) -> str:
    columns: Columns[DependencyView] = {
        first: lambda one: _provider(one) if first == "provider" else one.consumer,
        "kind": lambda one: one.kind,
        "at": lambda one: one.place,
        "function": lambda one: one.function,
    }
    return table(columns, rows)


def _provider(one: DependencyView) -> str:
    if not one.provider:
        return "(known when it is read)"
    return f"{one.provider} (missing)" if one.is_missing else one.provider


def _tree(branches: Sequence[DependencyBranch]) -> str:
    return "\n".join(
        clean(f"{'  ' * one.depth}{one.deployment}: ") + colored(one.status) + clean(_ties(one)) for one in branches
    )


def _ties(one: DependencyBranch) -> str:
    again = ", shown above" if one.is_again else ""
    return f" ({', '.join(one.places)}{again})"


def group_list(found: Sequence[GroupView]) -> str:
    """Return a table of groups; if there are none, the command that creates one."""
    if not found:
        return NO_GROUPS
    columns: Columns[GroupView] = {
        "name": lambda view: view.name,
        "members": lambda view: str(view.count),
        "blueprint": lambda view: view.blueprint,
        "labels": lambda view: ", ".join(view.labels),
        "created": lambda view: moment(view.created_at),
        "description": lambda view: view.description,
    }
    return table(columns, found)


def group_text(view: GroupView) -> str:
    """Return a text with everything about one group, and the warnings of the command that made or changed it."""
    more = f" and {view.count - SHOWN} more" if view.count > SHOWN else ""
    lines = facts(
        12,
        ("about", view.description),
        ("members", f"{view.count}{_counts(view.statuses or {})}"),
        ("blueprint", view.blueprint),
        ("inputs", ", ".join(f"{name}={value}" for name, value in view.inputs.items())),
        ("labels", ", ".join(view.labels)),
        ("created", f"{moment(view.created_at)} by {view.created_by}"),
        ("names", f"{', '.join(view.members[:SHOWN])}{more}"),
    )
    return "\n".join([clean(view.name), *map(clean, lines), *(problem_text(one) for one in view.warnings)])


def deleted_text(view: GroupView) -> str:
    """Return a line about the group that was deleted."""
    return clean(f"The deployment group '{view.name}' with {view.count} members is deleted.")


def run_list(found: Sequence[RunView]) -> str:
    """Return a table of runs."""
    if not found:
        return "No runs yet. Begin one:\n  phaseline groups run NAME WORKFLOW"
    columns: Columns[RunView] = {
        "run": lambda view: view.id,
        "workflow": lambda view: view.workflow,
        "status": lambda view: view.status,
        "executions": lambda view: ", ".join(f"{count} {status}" for status, count in view.counts.items()),
        "begun": lambda view: moment(view.created_at),
        "ended": lambda view: moment(view.ended_at) if view.ended_at else "",
    }
    return table(columns, found)


def run_text(view: RunView) -> str:
    """Return a text about one run: its status, its executions by status, the slowest, and what to do next."""
    left = f"{len(view.left_out)}: {', '.join(view.left_out[:SHOWN])}" if view.left_out else ""
    slow = [f"{one.took_ms / 1000:.1f} s {one.deployment} ({one.execution})" for one in view.slowest]
    lines = facts(
        12,
        ("status", view.status),
        ("executions", f"{view.total}{_counts(view.counts)}"),
        ("at a time", "" if view.concurrency is None else str(view.concurrency)),
        ("stop after", "" if view.stop_failures is None else f"{view.stop_failures} failed deployments"),
        ("left out", left),
        ("slowest", ", ".join(slow)),
        ("begun", f"{moment(view.created_at)} by {view.created_by}"),
        ("ended", moment(view.ended_at) if view.ended_at else ""),
        ("refused", "; ".join(view.refused)),
        ("next", _next(view)),
    )
    head = f"{view.id}: {view.workflow} over {view.group}"
    return "\n".join([clean(head), *map(clean, lines), *(problem_text(one) for one in view.warnings)])


def failures_text(found: RunFailures) -> str:
    """Return the failures of a run, the most frequent first."""
    if not found.failed:
        return clean(f"No execution of {found.id} over '{found.group}' has failed.")
    columns: Columns[RunFailure] = {
        "count": lambda one: f"{one.count} \u00d7",
        "message": lambda one: one.message,
        "at": lambda one: f"{one.operation} of {one.node}" if one.operation else "",
        "deployments": lambda one: ", ".join(one.deployments) + (" …" if one.count > len(one.deployments) else ""),
    }
    told = table(columns, found.failures)
    more = f"\n{found.failed} executions failed; the failures of the first of them are shown."
    return told + more if found.is_shortened else told


def events_text(found: RunEvents) -> str:
    """Return the events of a run, a line for each."""
    if not found.events:
        return clean(f"{found.id} over '{found.group}' has no events yet.")
    columns: Columns[RunEvent] = {
        "at": lambda event: moment(event.at),
        "deployment": lambda event: event.deployment,
        "execution": lambda event: event.execution,
        "event": lambda event: event.type,
        "message": lambda event: event.message,
    }
    return table(columns, found.events)


def _next(view: RunView) -> str:
    """Return the command that leads on from the status of a run."""
    words = {
        "failed": f"phaseline groups failures {view.id}; phaseline groups retry {view.id} --only failed",
        "canceled": f"phaseline groups retry {view.id} --only canceled",
        "attention": f"phaseline groups failures {view.id}; phaseline groups retry {view.id} --only unsure",
        "paused": f"phaseline groups resume {view.id}"
        if view.concurrency != 0
        else f"phaseline groups set {view.id} --concurrency N",
        "running": f"phaseline groups follow {view.id}",
        "queued": f"phaseline groups follow {view.id}",
    }
    return words.get(view.status, "")


def _counts(statuses: Mapping[str, int]) -> str:
    """Return how many members have which status, in brackets.

    >>> _counts({"good": 2, "not_installed": 1}), _counts({})
    (' (2 good, 1 not_installed)', '')
    """
    told = ", ".join(f"{count} {status}" for status, count in statuses.items())
    return f" ({told})" if told else ""
