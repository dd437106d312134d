"""Resources as phase plugins see them: records over the documents of instances, with the data that phases keep with
them.

What a plugin writes is recorded as changes of attributes, which are applied to the current document when the run ends.
Changes made elsewhere in the meantime are kept, except of attributes that the plugin has written, too (R11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from phaseline.compat.cyclecloud.lazy_record import LazyRecord
from phaseline.model.deployment.runtime_properties import SCALARS, is_same, overlaid
from phaseline.model.phases.phase_data import ENGINE_KEYS, PHASE_DATA, RESERVED_KEYS, data_in, phases_in
from phaseline.model.problems.problem import ProblemsError
from phaseline.records.formats.json_codec import from_json, value_json
from phaseline.records.record import Record, Removed
from phaseline.records.values import ErrorValue, is_in_range, is_too_long

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import InstanceContext, PluginCall
    from phaseline.calls.protocol.phase_view import PhaseContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.records.record import Path as RecordPath
    from phaseline.records.values import Stored

SHORT = 1_000
"""Number of characters below which a text need not be checked for its length."""
MISSING = object()
"""Marker for a path that does not exist in a document."""
Changes = tuple[dict["PropertyPath", "Value"], list["PropertyPath"]]
"""Changes of a document: ({path: new value}, removed paths)."""


class ResourceRun(Protocol):
    """The part of a run that its resources use."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The lock that is held while an object is made that must exist only once in the run."""
        ...

    @property
    def phase(self) -> PhaseContext:
        """The phase of the run."""
        ...

    def call_at(self, place: int) -> PluginCall:
        """Return the call of the member at a position."""
        ...

    def touched(self, resource: PhaseResource) -> None:
        """Note that the document of a resource was read, so that the resource may have changes."""
        ...


class PhaseResource(LazyRecord):
    """A resource of one run. Its attributes are those of the instance's document, and those that
    the engine provides.
    """

    __slots__ = ("_document", "_entry", "place", "run")

    only_engine = ENGINE_KEYS
    _document: Mapping[str, Value] | None
    _entry: Entry | None

    def __init__(self, run: ResourceRun, place: int) -> None:
        """Make the resource of the member at the position ``place`` of the run."""
        self.run = run
        self.place = place

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The lock of the run."""
        return self.run.lock

    @property
    def call(self) -> PluginCall:
        """The call whose subject the resource is."""
        return self.run.call_at(self.place)

    @property
    def view(self) -> InstanceContext:
        """The instance of the resource."""
        return self.call.owner

    @property
    def state(self) -> str:
        """The state of the resource.

        If the phase handles several states, resources of one run may be in different ones.
        """
        phase = self.call.site.phase
        return self.view.state if phase is None or not phase.state else phase.state

    @property
    def document(self) -> Mapping[str, Value]:
        """The instance's document when it was first read or last saved. It must not be changed."""
        with self.run.lock:
            if self._document is None:
                self._document = self.view.world.document(self.view)
                self.run.touched(self)
            return self._document

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """Yield the attributes of the document, then those that the engine provides, which count only if the document
        lacks them.
        """
        document = self.document
        call, view = self.call, self.view
        below = view.node.properties if call.site.phase is not None else {}
        for name, value in document.items():
            under = below.get(name) if below else None
            if isinstance(under, dict) and isinstance(value, dict):
                yield name, stored_of(overlaid(under, value))
            elif name != PHASE_DATA:
                yield name, stored_of(value)
        yield "Name", view.id
        yield "ClusterName", call.site.deployment.id
        yield "State", self.state
        kind = _type_of(view)
        if kind is not None:
            yield "AdType", kind
        phase = call.site.phase
        target = call.site.execution.parameters.get("target") if phase is None else phase.target
        if isinstance(target, str) and target:
            yield "TargetState", target
        for name, value in below.items():
            yield name, stored_of(value)
        if phases_in(document):
            yield "PhaseMap", PhaseMap(self)

    @property
    def entry(self) -> Entry:
        """The data that the run's phase keeps with the resource."""
        with self.run.lock:
            if self._entry is None:
                self._entry = Entry(self)
            return self._entry

    def entry_of(self, phase: str) -> Record:
        """Return the data that another phase keeps with the resource, which is read-only."""
        return _frozen(data_in(self.document, phase))

    def end(self) -> None:
        """Make the resource and its phase data read-only, because the run has ended and changes would be lost."""
        self.freeze()
        if self._entry is not None:
            self._entry.freeze()

    def changed(self) -> Changes:
        """Return the changes by the plugin: values that differ from the document, and removed paths."""
        written: dict[PropertyPath, Value] = {}
        removed: list[PropertyPath] = []
        document = self.document
        _collect(self.changes(), (), document, written, removed)
        if self._entry is not None:
            _collect(self._entry.changes(), (PHASE_DATA, self.run.phase.name), document, written, removed)
        return written, removed

    def lay_over(self) -> None:
        """Apply the plugin's changes to the current document; log attributes that were also changed
        elsewhere (PD16).
        """
        written, removed = self.changed()
        if not written and not removed:
            return
        view, call = self.view, self.call
        now = view.world.document(view)
        if now is not self.document:
            for path in (*written, *removed):
                new = written.get(path, MISSING)
                old, found = at_path(self.document, path), at_path(now, path)
                if not _alike(old, found) and not _alike(found, new):
                    text = f"{_name_of(path)} was changed by others to {_shown(found)} meanwhile; the plugin's {_shown(new)} counts"
                    call.log("warning", text)
        view.change(written, removed)

    @property
    def is_changed(self) -> bool:
        """True if the plugin has changed the resource or its phase data."""
        return any(self.changed())

    def save(self, *, wait: bool) -> None:
        """Store all changes made so far.

        With ``wait``, return only when these and all earlier saved changes are safe if the process dies.
        """
        self.lay_over()
        self.call.save(wait=wait)
        with self.run.lock:
            self._document = self.view.world.document(self.view)
        self.forget_changes()
        if self._entry is not None:
            self._entry.forget_changes()


class _OfResource(LazyRecord):
    """Base class of records that belong to a resource; they are filled under the lock of its run."""

    __slots__ = ("_resource",)

    def __init__(self, resource: PhaseResource) -> None:
        """Make the record of this resource."""
        super().__init__()
        self._resource = resource

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The lock of the run."""
        return self._resource.run.lock


class Entry(_OfResource):
    """The data that the run's phase keeps with a resource: the plugin's attributes, and read-only
    ones of the engine.
    """

    __slots__ = ()

    only_engine = RESERVED_KEYS

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """Yield the attributes of the engine, then those of the plugin."""
        phase, call = self._resource.run.phase, self._resource.call
        yield "Status", "Running"
        yield "State", self._resource.state
        yield "Attempt", call.attempt
        message = message_before(call)
        if message:
            yield "Message", message
        yield "Description", stored_of(phase.attributes.get("Description") or phase.name)
        for name, value in data_in(self._resource.document, phase.name).items():
            yield name, stored_of(value)


class PhaseMap(_OfResource):
    """The data that all phases keep with a resource: one record for each phase, read-only."""

    __slots__ = ()

    only_engine = None

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """Yield (phase, its record) for each phase that has data."""
        for phase, data in phases_in(self._resource.document).items():
            if isinstance(data, dict):
                yield phase, _frozen(data)


def message_before(call: PluginCall) -> str:
    """Return the message that an earlier run set on the entry, or an empty text."""
    found = call.data.get("message") if isinstance(call.data, dict) else None
    return found if isinstance(found, str) else ""


def stored_of(value: Value) -> Stored:
    """Convert a document's value to a value of a record.

    A value that records do not support becomes an error value; the document is not changed by this.
    """
    if type(value) is str and len(value) < SHORT:
        return value
    if isinstance(value, str):
        return ErrorValue("the text is too long for an attribute") if is_too_long(value) else value
    if isinstance(value, int) and not is_in_range(value):
        return ErrorValue("the integer has more than 64 bits")
    if type(value) in SCALARS:
        return value  # type: ignore[return-value]  # checked by its class
    try:
        return from_json({"value": value}).stored("value")
    except ProblemsError as error:
        return ErrorValue(error.problems[0].message)


def at_path(document: Mapping[str, Value], path: PropertyPath) -> object:
    """Return the value at a path of a document, or ``MISSING``."""
    found: object = document
    for step in path:
        if not isinstance(found, Mapping) or step not in found:
            return MISSING
        found = found[step]
    return found


def _collect(
    changes: Mapping[RecordPath, Stored | Removed],
    root: PropertyPath,
    document: Mapping[str, Value],
    written: dict[PropertyPath, Value],
    removed: list[PropertyPath],
) -> None:
    """Add a record's changes to ``written`` and ``removed``; ``root`` is the record's path in the document.

    An attribute that is undefined or removed is removed from the document.
    """
    for steps, change in changes.items():
        path = (*root, *steps)
        before = at_path(document, path)
        if change is None or isinstance(change, Removed):
            if before is not MISSING:
                removed.append(path)
            continue
        value = value_json(change)
        if not _alike(before, value):
            written[path] = value


def _alike(one: object, other: object) -> bool:
    if one is MISSING or other is MISSING:
        return one is other
    return is_same(one, other)  # type: ignore[arg-type]  # values of documents


def _frozen(data: Mapping[str, Value]) -> Record:
    made = Record()
    for name, value in data.items():
        if name and name.lower() not in made.folded:
            made.put(name, stored_of(value))
    made.forget_changes()
    made.freeze()
    return made


def _type_of(view: InstanceContext) -> str | None:
    try:
        return view.node.type
    except ProblemsError:
        return None  # a property of the node cannot be evaluated; the type alone must not cause a failure


def _name_of(path: Sequence[str]) -> str:
    own = path[2:] if path[0] == PHASE_DATA else path
    return f"'{'.'.join(own)}'" + (" of the phase's data" if own is not path else "")


def _shown(value: object) -> str:
    return "nothing" if value is MISSING else f"{value!r:.200}"
