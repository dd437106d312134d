"""The event for a listener: resources that reached a state together, with their attributes at that time.

See section 9 of the CycleCloud document (source 1).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.compat.cyclecloud.lazy_record import LazyRecord
from phaseline.compat.cyclecloud.resource import stored_of
from phaseline.model.phases.phase_data import PHASE_DATA
from phaseline.records.series import Series

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.records.values import Stored


class Arrival(LazyRecord):
    """A resource with its attributes at the time when it reached the state, read-only."""

    __slots__ = ("_attributes", "_document", "_own_lock")

    only_engine = None
    _document: Mapping[str, Value]

    def __init__(self, attributes: Mapping[str, Value], document: Mapping[str, Value]) -> None:
        """Make the resource from the ``attributes`` that the engine provides, and its ``document``, which is not
        changed.
        """
        super().__init__()
        self._own_lock = threading.RLock()
        self._attributes = attributes
        self._document = document

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The resource's own lock, because listeners may read it from several threads."""
        return self._own_lock

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """Yield the attributes that the engine provides, then those of the document."""
        for source in (self._attributes, self._document):
            for name, value in source.items():
                if name != PHASE_DATA:
                    yield name, stored_of(value)


class StateEvent:
    """The argument of a listener's ``onStateTransition``.

    >>> event = StateEvent("Cloud.Node", "Started", "lab", [Arrival({"Name": "n1"}, {"Size": 3})])
    >>> event.getState(), [(node["Name"], node["Size"]) for node in event.getResources()]
    ('Started', [('n1', 3)])
    """

    def __init__(self, resource_type: str, state: str, cluster: str, resources: Sequence[Arrival]) -> None:
        """Make the event of these resources, which have one type and belong to one cluster."""
        self.type = resource_type
        self.state = state
        self.cluster_name = cluster
        self.resources = Series(resources)

    def getType(self) -> str:
        """Return the type of the resources."""
        return self.type

    def getState(self) -> str:
        """Return the state that the resources reached; they may have left it since."""
        return self.state

    def getClusterName(self) -> str:
        """Return the name of the cluster to which the resources belong."""
        return self.cluster_name

    def getResources(self) -> Series:
        """Return the resources that reached the state together."""
        return self.resources

    get_type, get_state, get_cluster_name, get_resources = getType, getState, getClusterName, getResources
