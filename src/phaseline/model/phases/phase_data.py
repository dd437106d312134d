"""Where a resource keeps the data of its phases, and which names only the engine may write (ADR 0011)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Value

PHASE_DATA = "\0phases"
"""Key in a resource's document of {phase name: the phase's data}; no attribute can have this name."""

ENGINE_ATTRIBUTES = frozenset(
    {"AdType", "Name", "Id", "ClusterName", "State", "TargetState", "PhaseFailed", "PhaseMap", PHASE_DATA}
)
"""Attributes of a resource that only the engine writes (R12)."""

RESERVED = frozenset(
    {
        *("Status", "Message", "Description", "EnteredTime", "StartTime", "EndTime", "NextRunTime"),
        *("RunCount", "Attempt", "RunId", "State", "WaitingFor"),
    }
)
"""Attributes of a phase's entry that only the engine writes; all others are the plugin's (section 4)."""

ENGINE_KEYS = frozenset(name.lower() for name in ENGINE_ATTRIBUTES)
RESERVED_KEYS = frozenset(name.lower() for name in RESERVED)
"""``RESERVED`` in lower case, because names are compared in lower case."""

NO_DATA: Mapping[str, Value] = MappingProxyType({})


def phases_in(document: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return {phase: its data} of a resource, for the phases that keep any."""
    found = document.get(PHASE_DATA)
    return found if isinstance(found, dict) else NO_DATA


def attributes_in(document: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the document without the data of phases, as all readers except phases see it.

    >>> attributes_in({"Size": 3, PHASE_DATA: {"Acme.Create": {}}})
    {'Size': 3}
    """
    if PHASE_DATA not in document:
        return document
    return {name: value for name, value in document.items() if name != PHASE_DATA}


def data_in(document: Mapping[str, Value], phase: str) -> Mapping[str, Value]:
    """Return the data that a phase has stored with a resource.

    >>> data_in({PHASE_DATA: {"Acme.Create": {"OperationId": "op-1"}}}, "Acme.Create")
    {'OperationId': 'op-1'}
    """
    found = phases_in(document).get(phase)
    return found if isinstance(found, dict) else NO_DATA
