"""Decisions of hooks for instances, and warnings of hooks: both are part of what a hook returns (decision 23).

The form is ``{"decisions": {instance id: {name: value}}, "warnings": [text]}``; either key may be missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.pre_post import PRE
from phaseline.model.rows.rows import EventRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import StoreRows

Decisions = dict[str, "Mapping[str, Value]"]
"""{instance id: {name of a decision: its value}}"""
DECISIONS, WARNINGS = "decisions", "warnings"


def decided(store: StoreRows, row: ExecutionRow) -> Decisions:
    """Return the decisions of an execution so far. If two hook classes decide under one name, the later one wins."""
    found: Decisions = {}
    for graph in store.graphs(row.number):
        if any(step.phase.startswith(PRE) for step in store.graph(graph.id).steps[:1]):
            add_decisions(found, [note.result for note in store.notes(graph.id)])
    return found


def add_decisions(found: Decisions, results: Iterable[Value]) -> None:
    """Merge the decisions in the results of hook calls into ``found``; they replace earlier ones with equal names."""
    for result in results:
        told = result.get(DECISIONS) if isinstance(result, dict) else None
        for instance, decision in told.items() if isinstance(told, dict) else ():
            if isinstance(decision, dict):
                found[instance] = {**found.get(instance, {}), **decision}


def warnings_of(result: Value) -> Iterator[str]:
    """Yield the warnings in the result of a hook call."""
    told = result.get(WARNINGS) if isinstance(result, dict) else None
    for text in told if isinstance(told, list) else ():
        yield str(text)


def warned(batch: Batch, report: CallReport, now: int) -> Iterator[EventRow]:
    """Yield an event for each warning in the results of hook calls."""
    executions = dict(zip(batch.members.graphs, batch.members.executions, strict=True))
    for _, remark in report.remarks:
        for text in warnings_of(remark.result):
            yield EventRow(executions[remark.graph], now, "hook_warning", text, operation=batch.lane.phase)
