"""System properties of an instance: results of checks in the form in which Cloudify shows them (W32, W46)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.health.checks import ILL, CheckKind, CheckResult, CheckResults, HeldBodies

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology

Named = Callable[[int], str]
"""A function that returns the id of the execution with a number."""


def system_properties(
    book: CheckResults, topology: Topology, instance: int, state: int, named: Named
) -> dict[str, Value]:
    """Return the known system properties of an instance: ``status``, ``previous_status`` and drifts.

    ``state`` is its present state. Each property is ``{ok, timestamp, task, result}``; ``task`` is the execution that
    checked, and a status may have ``healed``. A started instance that was not checked since its start counts as
    healthy; this status has no task (W33).
    """
    status = as_property(book, CheckKind.STATUS, instance, named)
    if status is None and state == InstanceState.STARTED:
        status = {"ok": True, "timestamp": None, "task": None, "result": None}
    own_results = {
        "status": status,
        "previous_status": as_property(book, CheckKind.PREVIOUS_STATUS, instance, named),
        "configuration_drift": as_property(book, CheckKind.DRIFT, instance, named),
    }
    found: dict[str, Value] = {name: told for name, told in own_results.items() if told is not None}
    for kind, own, other, name in (
        (CheckKind.SOURCE_DRIFT, topology.source, topology.target, "source_relationships_configuration_drift"),
        (CheckKind.TARGET_DRIFT, topology.target, topology.source, "target_relationships_configuration_drift"),
    ):
        if kind in book.columns:
            rows = np.flatnonzero((own == instance) & topology.is_tied).tolist()
            drifts = {topology.ids[int(other[row])]: as_property(book, kind, row, named) for row in rows}
            known: dict[str, Value] = {id: told for id, told in drifts.items() if told is not None}
            if known:
                found[name] = known
    return found


def as_property(book: CheckResults, kind: CheckKind, subject: int, named: Named) -> dict[str, Value] | None:
    """Return one result as a system property, or None if it is unknown."""
    column = book.columns.get(kind)
    if column is None or subject >= len(column) or column.results[subject] == CheckResult.UNKNOWN:
        return None
    result = CheckResult(int(column.results[subject]))
    bodies = book.bodies
    found: dict[str, Value] = {
        "ok": result not in ILL,
        "timestamp": datetime.fromtimestamp(int(column.times[subject]) / 1000, UTC).isoformat(timespec="milliseconds"),
        "task": named(int(column.executions[subject])),
        "result": bodies.get((kind, subject)) if isinstance(bodies, HeldBodies) else None,
    }
    return {**found, "healed": True} if result is CheckResult.HEALED else found
