"""Find what has started executions, what they have started, and which of it needs a decision (BB2, CO9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.use_cases.lookup.entries import GraphEntries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.causes import CausedRow, CauseKey, CauseKind
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

KINDS: Sequence[CauseKind] = ("component", "relationship", "group", "schedule", "program", "recursive", "capability")
OF_EXECUTIONS: Sequence[CauseKind] = ("component", "relationship", "program", "recursive", "capability")
"""Kinds of causes whose number is that of an execution."""


def cause_text(store: TenantStore, row: ExecutionRow) -> str:
    """Return what has started an execution as text, such as ``component db_x7 of install-1 of app``; "" if a user did."""
    for found in store.causes.of_executions([row.number]):
        return _text(store, found.cause)
    return ""


def _text(store: TenantStore, cause: CauseKey) -> str:
    if cause.kind not in OF_EXECUTIONS:
        return f"{cause.kind} {cause.number}"
    rows = store.listings.executions(ExecutionQuery(numbers=(cause.number,)))
    if not rows:
        return cause.kind
    outer = rows[0]
    instance = _instance(store, outer, cause)
    return f"{cause.kind} {instance} of {outer.id} of {outer.deployment_name}".replace("  ", " ")


def _instance(store: TenantStore, outer: ExecutionRow, cause: CauseKey) -> str:
    """Return the id of the instance whose call is the cause; empty if its graph is gone."""
    graph, _, position = cause.key.rpartition("/")[0].partition("/")
    if not (graph.isdigit() and position.isdigit()) or int(graph) not in {one.id for one in store.graphs(outer.number)}:
        return ""
    instance, _ = GraphEntries(store.graph(int(graph))).subject(store.topology(outer.deployment), int(position))
    return instance


def executions_by(store: TenantStore, execution: int) -> Sequence[CausedRow]:
    """Return the executions that an execution has started, sorted by number."""
    found = [row for kind in OF_EXECUTIONS for row in store.causes.caused(kind, execution) if row.is_execution]
    return sorted(found, key=lambda row: row.number)


def numbers_caused_by(store: TenantStore, wanted: str) -> set[int]:
    """Return the numbers of the executions of a cause ``KIND[:NAME]``; NAME is an execution's id or a deployment's name.

    Raises: PL-C116 for an unknown kind or name.
    """
    kind, _, name = wanted.partition(":")
    if kind not in KINDS:
        raise problem_error("PL-C116", f"'{kind}' is no cause of executions", f"use one of {', '.join(KINDS)}")
    if not name:
        everything = [row.number for row in store.listings.executions(ExecutionQuery())]
        return {row.number for row in store.causes.of_executions(everything) if row.cause.kind == kind}
    execution, deployment = store.execution(name), store.deployment(name)
    makers = [execution] if execution is not None else store.executions(deployment.number) if deployment else []
    if not makers:
        mend = "give the id of an execution, or the name of a deployment"
        raise problem_error("PL-C116", f"there is no execution and no deployment '{name}'", mend)
    return {row.number for maker in makers for row in executions_by(store, maker.number) if row.cause.kind == kind}


def asking(store: TenantStore, row: ExecutionRow) -> Sequence[str]:
    """Return a sentence for each execution in attention that this one waits for, directly or through others."""
    awaited: dict[int, list[int]] = {}
    for one in store.causes.awaiting():
        awaited.setdefault(one.execution, []).append(one.awaited)
    seen, ahead = {row.number}, [row.number]
    while ahead:
        new = [number for number in awaited.get(ahead.pop(), ()) if number not in seen]
        seen.update(new)
        ahead += new
    inner = store.listings.executions(ExecutionQuery(numbers=seen - {row.number})) if len(seen) > 1 else ()
    return [_sentence(one) for one in inner if one.status is ExecutionStatus.ATTENTION]


def _sentence(row: ExecutionRow) -> str:
    return (
        f"attention: the inner {row.id} of '{row.deployment_name}' asks for a decision about its unsure calls: phaseline "
        f"executions retry {row.id}, or phaseline executions complete {row.id} --reason TEXT"
    )
