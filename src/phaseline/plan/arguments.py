"""Inputs that the parameters of an execution add to those of the blueprint (W26)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint import Value

OPERATION_KWARGS = "operation_kwargs"
GIVEN: Mapping[str, str] = {"execute_operation": OPERATION_KWARGS}
"""{workflow: its parameter with further inputs for each call}"""
NOTHING: Mapping[str, Value] = {}


def given_inputs(workflow: str, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
    """What every call of such an execution gets beside the inputs of its operation, over those of the same name.

    >>> given_inputs("execute_operation", {"operation_kwargs": {"level": 3}})
    {'level': 3}
    """
    found = parameters.get(GIVEN[workflow]) if workflow in GIVEN else None
    return found if isinstance(found, dict) else NOTHING
