"""Inputs of operations that come from the parameters of an execution, not from the blueprint (W26)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.plan.graph import operation_names as op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Value

OPERATION_KWARGS = "operation_kwargs"
OPERATION_PARMS = "operation_parms"
STOP_PARMS = "stop_parms"
START_PARMS = "start_parms"
SNAPSHOT_NAME = "snapshot_name"
"""Name of a parameter of the snapshot workflows. Each snapshot operation also gets its value as an input."""
ANY = ""
"""Key in ``GIVEN`` that matches every operation of the workflow."""
GIVEN: Mapping[str, Mapping[str, str]] = {
    "execute_operation": {ANY: OPERATION_KWARGS},
    "start": {ANY: OPERATION_PARMS},
    "stop": {ANY: OPERATION_PARMS},
    "pull": {ANY: OPERATION_PARMS},
    "suspend": {ANY: OPERATION_PARMS},
    "resume": {ANY: OPERATION_PARMS},
    "snapshot": {ANY: OPERATION_PARMS},
    "restore": {op.SNAPSHOT_APPLY: OPERATION_PARMS},
    "delete_snapshot": {ANY: OPERATION_PARMS},
    "restart": {op.STOP: STOP_PARMS, op.START: START_PARMS},
}
"""{workflow: {operation: the parameter whose value adds inputs to each call of the operation}}"""
SNAPSHOTS = (op.SNAPSHOT_CREATE, op.SNAPSHOT_APPLY, op.SNAPSHOT_DELETE)
"""Operations that get the snapshot's name as an input."""
NOTHING: Mapping[str, Value] = {}


def given_inputs(workflow: str, operation: str, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the inputs that the execution's parameters add to a call of ``operation``.

    They override inputs of the blueprint with the same name.

    >>> given_inputs("execute_operation", "ops.backup", {"operation_kwargs": {"level": 3}})
    {'level': 3}
    """
    by_operation = GIVEN.get(workflow)
    if by_operation is None:
        return NOTHING
    found = parameters.get(by_operation.get(operation) or by_operation.get(ANY, ""))
    given: Mapping[str, Value] = found if isinstance(found, dict) else NOTHING
    if operation in SNAPSHOTS and SNAPSHOT_NAME in parameters:
        return {SNAPSHOT_NAME: parameters[SNAPSHOT_NAME], **given}
    return given
