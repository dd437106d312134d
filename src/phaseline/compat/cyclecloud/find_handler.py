"""``find(items)``, by which a plugin resolves calls that a crash interrupted (decision 1, P113).

A module that has a phase's handler may also have ``find(items)``. After a crash it is called before the handler, with
the resources whose last call has no known end. For example, the process died while the handler created a machine; in
the next run ``find`` looks for a machine with the item's token and calls one of these:

- ``item.exists({"InstanceId": id})``: the phase keeps the data and is completed.
- ``item.unfinished({"OperationId": id})``: the phase keeps the data, and the handler is called to continue polling.
- ``item.absent()``: the handler is called as for the first time.
- ``item.unknown()``, or nothing: an operator must decide (``resources retry``, ``resources complete``).

``exists`` and ``unfinished`` may set attributes of the resource, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from phaseline.model.deployment.runtime_properties import copy_mapping
from phaseline.model.phases.phase_data import data_in

if TYPE_CHECKING:
    from phaseline.compat.cyclecloud.resource import PhaseResource
    from phaseline.model.blueprint.blueprint import Value

Finder = Callable[[Sequence["Sought"]], object]
Answer = Literal["exists", "unfinished", "absent", "unknown"]
NAME, PARAMETER = "find", "items"
NOBODY_KNOWS = "the process died during its last call, which may or may not have been carried out"


class Sought:
    """A resource whose last call may or may not have been carried out.

    ``token``: the operation token of that call; ``name``: the resource's name; ``data``: the last stored data of the
    phase.
    """

    __slots__ = ("_resource", "answer", "attributes", "data", "found", "name", "token")

    def __init__(self, resource: PhaseResource, phase: str) -> None:
        self._resource = resource
        self.token: str = resource.call.token
        self.name: str = resource.view.id
        self.data: Mapping[str, Value] = copy_mapping(data_in(resource.document, phase))
        self.answer: Answer = "unknown"
        self.found: dict[str, Any] = {}
        self.attributes: dict[str, Any] = {}

    def exists(self, data: Mapping[str, Any] | None = None, *, attributes: Mapping[str, Any] | None = None) -> None:
        """Report that the call was carried out: the phase is completed, and ``data`` is added to its data.

        ``attributes``: attributes of the resource to set.
        """
        self.answer, self.found, self.attributes = "exists", dict(data or {}), dict(attributes or {})

    def unfinished(self, data: Mapping[str, Any] | None = None, *, attributes: Mapping[str, Any] | None = None) -> None:
        """Report that the call was begun: the handler is called to continue polling.

        ``data`` is added to the data of the phase. ``attributes``: attributes of the resource to set.
        """
        self.answer, self.found, self.attributes = "unfinished", dict(data or {}), dict(attributes or {})

    def absent(self) -> None:
        """Report that the call was not carried out: the handler is called as for the first time."""
        self.answer = "absent"

    def unknown(self) -> None:
        """Report that it cannot be found out whether the call was carried out: an operator must decide."""
        self.answer = "unknown"

    def keep(self) -> None:
        """Write the reported values to the phase's data and to the resource. Raises what setting them raises."""
        for name, value in self.found.items():
            self._resource.entry.set(name, value)
        for name, value in self.attributes.items():
            self._resource.set(name, value)

    def __repr__(self) -> str:
        """Return the resource's name and the answer."""
        return f"<{self.name}: {self.answer}>"


def finder_of(function: object) -> Finder | None:
    """Return the function ``find(items)`` of the handler's module, or None if there is none; interrupted calls are then
    repeated.
    """
    found = getattr(inspect.unwrap(function), "__globals__", {}).get(NAME) if callable(function) else None
    if not inspect.isfunction(found):
        return None
    wanted = [
        name for name, one in inspect.signature(found).parameters.items() if one.default is inspect.Parameter.empty
    ]
    return found if wanted == [PARAMETER] else None
