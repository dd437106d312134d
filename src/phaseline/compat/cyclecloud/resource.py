"""Resources as phase plugins see them: records over the document of an instance, and the phase's own data with each.

Writes of a plugin are kept as changes of attributes, and applied to the current document when the run ends: other
changes made meanwhile stay, unless the plugin wrote the same attribute (R11).
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
"""The number of characters below which a text is never too long."""
MISSING = object()
"""The value of a path that does not exist."""
Changes = tuple[dict["PropertyPath", "Value"], list["PropertyPath"]]
"""({path: value written}, paths removed) of a document."""


class ResourceRun(Protocol):
    """The parts of a run that its resources need."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while an object is made that must exist only once."""
        ...

    @property
    def phase(self) -> PhaseContext:
        """The phase."""
        ...

    def call_at(self, place: int) -> PluginCall:
        """The call of a member."""
        ...

    def touched(self, resource: PhaseResource) -> None:
        """Note that a document was read, so that it may have changes."""
        ...


class PhaseResource(LazyRecord):
    """A resource of one run: attributes of its document, and attributes that the engine provides."""

    __slots__ = ("_document", "_entry", "place", "run")

    only_engine = ENGINE_KEYS
    _document: Mapping[str, Value] | None
    _entry: Entry | None

    def __init__(self, run: ResourceRun, place: int) -> None:
        """The member at this place."""
        self.run = run
        self.place = place

    @property
    def lock(self) -> AbstractContextManager[object]:
        """That of the run."""
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
        """The state of the resource; a phase of several states may have resources of all of them in one run."""
        phase = self.call.site.phase
        return self.view.state if phase is None or not phase.state else phase.state

    @property
    def document(self) -> Mapping[str, Value]:
        """The document as first read, or as last saved; never to be changed."""
        with self.run.lock:
            if self._document is None:
                self._document = self.view.world.document(self.view)
                self.run.touched(self)
            return self._document

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """The attributes of the document; for those it lacks, the attributes of the engine."""
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
        """The data that its phase keeps with it."""
        with self.run.lock:
            if self._entry is None:
                self._entry = Entry(self)
            return self._entry

    def entry_of(self, phase: str) -> Record:
        """The data that another phase keeps with it, read-only."""
        return _frozen(data_in(self.document, phase))

    def end(self) -> None:
        """Refuse changes from now on: the run is over, and they would be lost."""
        self.freeze()
        if self._entry is not None:
            self._entry.freeze()

    def changed(self) -> Changes:
        """The written values that differ from the document."""
        written: dict[PropertyPath, Value] = {}
        removed: list[PropertyPath] = []
        document = self.document
        _collect(self.changes(), (), document, written, removed)
        if self._entry is not None:
            _collect(self._entry.changes(), (PHASE_DATA, self.run.phase.name), document, written, removed)
        return written, removed

    def lay_over(self) -> None:
        """Apply its changes to the current document; log attributes that were changed elsewhere, too (PD16)."""
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
        """True if there are changes to store."""
        return any(self.changed())

    def save(self, *, wait: bool) -> None:
        """Store all changes so far; ``wait`` until they, and all saved before, survive the process."""
        self.lay_over()
        self.call.save(wait=wait)
        with self.run.lock:
            self._document = self.view.world.document(self.view)
        self.forget_changes()
        if self._entry is not None:
            self._entry.forget_changes()


class _OfResource(LazyRecord):
    """A record that is kept with a resource, and read under the lock of its run."""

    __slots__ = ("_resource",)

    def __init__(self, resource: PhaseResource) -> None:
        """Of this resource."""
        super().__init__()
        self._resource = resource

    @property
    def lock(self) -> AbstractContextManager[object]:
        """That of the run."""
        return self._resource.run.lock


class Entry(_OfResource):
    """The data that the phase of a run keeps with a resource: its own attributes, and read-only ones of the engine."""

    __slots__ = ()

    only_engine = RESERVED_KEYS

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """The present attributes of the engine, then the plugin's own."""
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
    """The data that all phases keep with a resource, read-only."""

    __slots__ = ()

    only_engine = None

    def fetch(self) -> Iterator[tuple[str, Stored]]:
        """A record for each phase."""
        for phase, data in phases_in(self._resource.document).items():
            if isinstance(data, dict):
                yield phase, _frozen(data)


def message_before(call: PluginCall) -> str:
    """The message that an earlier run left with the entry."""
    found = call.data.get("message") if isinstance(call.data, dict) else None
    return found if isinstance(found, str) else ""


def stored_of(value: Value) -> Stored:
    """A document's value in the form of a record. An unsupported value becomes an error value; the document keeps it."""
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
    """The value at a path, or ``MISSING``."""
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
    """Sort changes of a record at ``root`` of a document; undefined attributes are removed."""
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
