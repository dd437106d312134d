"""Breakpoints of deployments: add, remove and list them, and clear them so that stopped instances continue (H46)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import as_dict as fields_of
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.labels import Label
from phaseline.model.execution.breakpoints import LABEL, Breakpoint, read_points
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows import row_queries
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.labels import Labels, change_labels
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission, SubmissionFor, Submissions, adapt, ask
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare.breakpoints import labelled, read, valid_stops
from phaseline.use_cases.queries.breakpoints import StoppedInstance, list_breakpoints

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore

NAMED = 5
"""Number of stopped instances that an error names if none is stopped at the requested point."""


@frozen
class Kept:
    """The breakpoints at which all future executions of a deployment or cluster stop.

    ``added``, ``removed``: numbers of changed breakpoints. ``begun``: ids of open executions, which ignore added
    breakpoints.
    """

    deployment: str
    breakpoints: Sequence[str]
    added: int = 0
    removed: int = 0
    begun: Sequence[str] = ()


def add(
    ctx: RequestContext, deployment: str, points: Sequence[str] = (), *, timeout_s: float | None = None
) -> Kept | SubmissionFor[Kept]:
    """Add breakpoints for all future executions of a deployment or cluster, and return all its breakpoints.

    They are stored as labels. Raises: PL-C010, PL-P047 for breakpoints at which no instance would stop.
    """
    row = find_deployment(ctx.store, deployment, to_change=bool(points))
    given = [read(text, timeout_s) for text in points]
    found = change_labels(ctx, row.name, add=[f"{LABEL}={one}" for one in given])

    def kept(labels: Labels) -> Kept:
        begun = [one.id for one in ctx.store.executions(row.number, only_open=True)] if labels.added else []
        return Kept(row.name, _kept_texts(ctx.store, row.number), added=labels.added, begun=begun)

    return adapt(found, kept)


def remove(ctx: RequestContext, deployment: str, points: Sequence[str]) -> Kept | SubmissionFor[Kept]:
    """Remove breakpoints for all future executions. Instances stopped at them stay stopped until ``clear``.

    A point without names of instances removes all breakpoints at this point. Raises: PL-C010, PL-P047 for breakpoints
    that the deployment does not have.
    """
    row = find_deployment(ctx.store, deployment, to_change=True)
    texts = [label.value for label in ctx.store.labels.of(row.number) if label.key == LABEL]
    gone: dict[str, None] = {}
    for point in points:
        mine = [text for text in texts if point in {text, text.partition("=")[0]} or str(read(point)) == text]
        if not mine:
            has = ", ".join(texts) or "none"
            raise problem_error("PL-P047", f"'{row.name}' has no breakpoint '{point}'", f"it has: {has}", subject=point)
        gone |= dict.fromkeys(mine)
    found = change_labels(ctx, row.name, remove=[f"{LABEL}={text}" for text in gone])
    return adapt(found, lambda labels: Kept(row.name, _kept_texts(ctx.store, row.number), removed=labels.removed))


def list_kept(ctx: RequestContext, deployment: str | None = None) -> Sequence[Kept]:
    """Return the deployments and clusters that have stored breakpoints.

    ``deployment``: return only this one, or nothing if it has no breakpoints.
    """
    store = ctx.store
    if deployment is not None:
        row = find_deployment(store, deployment)
        labels: Mapping[int, Sequence[Label]] = {row.number: store.labels.of(row.number)}
        rows: Sequence[DeploymentRow] = [row]
    else:
        labels = store.labels.with_key(LABEL)
        rows = store.listings.deployments(row_queries.DeploymentQuery(numbers=labels)) if labels else ()
    found = [Kept(row.name, [str(one) for one in valid_stops(labels[row.number])]) for row in rows]
    return [one for one in found if one.breakpoints]


def _kept_texts(store: TenantStore, deployment: int) -> list[str]:
    return [str(one) for one in labelled(store, deployment)]


def _cleared_again(
    ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]
) -> Submissions[Sequence[StoppedInstance]]:
    cleared: Any = found.answer["cleared"]
    stopped = [StoppedInstance(**one) for one in cleared]
    rows = [ctx.store.execution(id) for id, _ in dict.fromkeys((one.execution, one.graph) for one in stopped)]
    asked = zip(rows, found.requests, strict=True)
    open_ones = [Submission(row, number) for row, number in asked if row is not None and not row.status.is_ended]
    return _continued(open_ones, stopped)


@once("clear", _cleared_again)
def clear(
    ctx: RequestContext,
    point: str,
    *,
    deployment: str | None = None,
    instances: Sequence[str] = (),
    given: NewOrder | None = None,
) -> Submissions[Sequence[StoppedInstance]]:
    """Let instances that are stopped at a breakpoint continue, and return them.

    ``point``: in the syntax of breakpoints. A bare name is the point before this operation; names of instances may
    follow. ``*`` replaces any part of a name, and ``*`` alone selects every point. ``instances``: only these nodes or
    beginnings of ids. If no engine runs, the command runs one until the execution has ended or stops again; resources
    wait for the next engine. Raises: PL-C092 if no instance is stopped there, PL-P047 for an invalid point.
    """
    meant = read(point, of=read_points)
    standing = list_breakpoints(ctx, deployment)
    chosen = [one for one in standing if _is_meant(one, meant) and (not instances or _is_named(one, instances))]
    if not chosen:
        told = [f"{one.point} of {one.instance}" for one in standing[:NAMED]]
        more = f" and {len(standing) - NAMED:,} more" if len(standing) > NAMED else ""
        mend = (
            f"name a breakpoint at which instances are stopped: {', '.join(told)}{more}"
            if told
            else "look at the breakpoints, at which no instance is stopped: phaseline breakpoints list"
        )
        of = f" of {', '.join(instances)}" if instances else ""
        raise problem_error("PL-C092", f"no instance{of} is stopped at '{_point_text(meant)}'", mend, subject=point)
    submissions: list[Submission] = []
    with ctx.store.as_one(given) as answer:
        answer["cleared"] = [fields_of(one) for one in chosen]
        for execution, graph in dict.fromkeys((one.execution, one.graph) for one in chosen):
            row = ctx.store.execution(execution)
            assert row is not None, "it is open"
            mine = [one for one in chosen if (one.execution, one.graph) == (execution, graph)]
            points = ", ".join(dict.fromkeys(one.point for one in mine))
            positions: list[Value] = [one.position for one in mine]
            body: dict[str, Value] = {"graph": graph, "positions": positions, "reason": f"cleared {points}"}
            submissions.append(ask(ctx, RequestKind.COMPLETE, row, body))
    return _continued(submissions, chosen)


def _continued(
    submissions: Sequence[Submission], cleared: Sequence[StoppedInstance]
) -> Submissions[Sequence[StoppedInstance]]:
    """Return the submissions as one result of a command.

    Executions of workflows are followed; requests about resources only need an answer.
    """
    of_resources = [one for one in submissions if one.row.request.workflow == REACH_WORKFLOW]
    others = [one for one in submissions if one.row.request.workflow != REACH_WORKFLOW]
    return Submissions([one.request for one in of_resources], lambda: cleared, others)


def _is_meant(one: StoppedInstance, meant: Breakpoint) -> bool:
    return meant.covers(one.point) and (meant.concerns(one.node) or meant.concerns(one.instance))


def _point_text(meant: Breakpoint) -> str:
    """Return a breakpoint as text; the part that names instances is left out if it selects all instances."""
    return str(meant).removesuffix("=*")


def _is_named(one: StoppedInstance, instances: Sequence[str]) -> bool:
    return any(one.node == name or one.instance.startswith(name) for name in instances)
