"""Turns the record of a plugin's definition, however it was written, into a ``PhasePlugin``, and finds all its
problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from phaseline.catalog.phases.call_policy import BY_KEY, KNOBS, Unfit
from phaseline.lang.did_you_mean import closest, suggestion
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.phases.definitions import (
    Attributes,
    ListenerDefinition,
    PhaseCode,
    PhaseDefinition,
    PhasePlugin,
    PhasePolicy,
)
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
from phaseline.model.problems.problem import Place, Problem
from phaseline.records.expression import Expression
from phaseline.records.formats.json_codec import value_json
from phaseline.records.record import Record
from phaseline.records.values import kind_of

if TYPE_CHECKING:
    from phaseline.catalog.phases.module_source import FunctionText, ModuleSource
    from phaseline.records.values import Stored

HANDLES = ("handle", "handle_one")
LISTENS = ("onStateTransition", "on_state_transition")
TOP = (
    *("Name", "HandlesStates", "ResourceType", "PhaseName", "HandlesProvider", "ForProvider", "ResourceConstraint"),
    *("Disabled", "Dependencies", "Version", "ResourceStateListener", "ResourceStates", "ResourceTypes", "Phase"),
    *("AdType", "Code"),
)
"""Attributes that have a meaning to the engine. Plugins may define any other attributes for themselves."""
OF_PHASE = ("Description", "Dependencies", *KNOBS)
OLD_PREFIX = "phase_"
"""Beginning of ``Phase_X``, the spelling of ``Phase.X`` in CycleCloud's early versions."""
PREFIXES = (OLD_PREFIX, "phase.")
"""Beginnings of the names of attributes that mean ``Phase.X``. In a record, ``Phase.X`` may be a nested attribute or
one name that contains a dot.
"""
LIKELY = 0.85
"""Similarity (0 to 1) to a known name from which an unknown name counts as a misspelling."""


@frozen
class WrittenDefinition:
    """A definition as it was written, before it is checked.

    ``name`` is used if the record has none. ``places`` is {attribute: its place in the file}. ``function`` is the
    decorated function; if empty, a function with one of the usual names is used. ``folders`` are the folders of the
    plugin's modules.
    """

    name: str
    record: Record
    where: Place
    places: Mapping[str, Place]
    package: str = ""
    module: str = ""
    function: str = ""
    folders: tuple[str, ...] = ()
    source: ModuleSource | None = None
    problems: tuple[Problem, ...] = ()


def define(written: WrittenDefinition) -> PhasePlugin:
    """Return the plugin of a definition, with all its problems.

    The plugin has a phase only if at least the name and the states can be read.
    """
    return _Reading(written).plugin()


class _Reading:
    """The reading of one definition, which collects the problems found."""

    def __init__(self, written: WrittenDefinition) -> None:
        self.written = written
        self.record = written.record
        self.problems = list(written.problems)
        if written.source is not None:
            self.problems += written.source.problems

    def plugin(self) -> PhasePlugin:
        written = self.written
        name = self._text("Name") or written.name
        version = self._text("Version", any_kind=True)
        phase = self._phase(name, version) if "HandlesStates" in self.record else None
        listener = self._listener(name)
        if phase is None:
            self._idle("HandlesStates", HANDLES)
        own = [key for key in self.record if key.lower() not in _TOP_KEYS and not key.lower().startswith(PREFIXES)]
        for key in own:
            self._misspelled(key, TOP, "")
        self._misspelled_phase()
        is_disabled = self._flag("Disabled")
        return PhasePlugin(
            name,
            written.package,
            phase,
            listener,
            is_disabled,
            version,
            Attributes((key, value_json(self.record.folded[key.lower()])) for key in own),
            self._names("Dependencies"),
            phase.code if phase is not None else listener.code if listener is not None else self._code(""),
            written.where,
            written.places,
            tuple(altered(problem, severity="warning") if is_disabled else problem for problem in self.problems),
        )

    # The phase

    def _phase(self, plugin: str, version: str) -> PhaseDefinition | None:
        attributes = self._phase_attributes
        name = self._text("PhaseName")
        states = self._names("HandlesStates")
        types = self._names("ResourceType")
        if not name:
            self._say("PL-D010", "the phase has no name", "write PhaseName = and a name that no other phase has")
        self._refuse_name("PhaseName", name)
        if not states:
            self._say(
                "PL-D012", "HandlesStates names no state", "write HandlesStates = and the states", "HandlesStates"
            )
        if not types:
            mend = "write ResourceType = and the types, such as Cloud.Node"
            self._say("PL-D011", "the phase has no resource type", mend)
        constraint = self._constraint()
        description = attributes.get("description", "")
        found = PhaseDefinition(
            name,
            plugin,
            states,
            types,
            self._providers(),
            "" if constraint is None else constraint.text,
            frozenset() if constraint is None else constraint.names(),
            self._name_list("Phase.Dependencies", attributes.get("dependencies")),
            str(description if description is not None else "") or name,
            self._policy(attributes),
            Attributes(
                (attributes.spelling(key), value_json(value))
                for key, value in attributes.folded.items()
                if key not in _FIELDS
            ),
            version,
            code=self._code("phase"),
            package=self.written.package,
            where=self.written.places.get("phasename", self.written.where),
            places=self.written.places,
        )
        return found if name and states else None

    @cached_property
    def _phase_attributes(self) -> Record:
        """The record of all attributes ``Phase.X`` by X, including those in the old spelling ``Phase_X``. An attribute
        in both spellings is PL-D014.
        """
        found = Record()
        nested = self.record.stored("Phase") if "phase" in self.record.folded else None
        if isinstance(nested, Record):
            for key, value in nested.folded.items():
                found.put(nested.spelling(key), value)
        elif nested is not None:
            self._kind("Phase", "a record", nested)
        for key, value in self.record.folded.items():
            if not key.startswith(PREFIXES):
                continue
            written = self.record.spelling(key)
            name = written[len(OLD_PREFIX) :]
            if name.lower() in found.folded:
                self._twice(f"Phase.{name}", written, found.folded[name.lower()], value)
            elif name:
                found.put(name, value)
        return found

    def _twice(self, new: str, old: str, value: Stored, other: Stored) -> None:
        if value_json(value) == value_json(other):
            message = f"{new} and {old}, which means the same, are both given"
            self._say("PL-D014", message, f"leave {old} out", old, is_warning=True)
        else:
            message = f"{new} is {_shown(value)} and {old}, which means the same, is {_shown(other)}"
            self._say("PL-D014", message, f"leave {old} out", old)

    def _policy(self, attributes: Record) -> PhasePolicy:
        values: dict[str, Any] = {}
        for key, value in attributes.folded.items():
            name, knob = BY_KEY.get(key, ("", None))
            if knob is None:
                continue
            try:
                values[knob.field] = knob.read(value)
            except Unfit:
                as_text = isinstance(value, str) and knob.is_expression
                mend = (
                    f"for an expression write Phase.{name} := {_printable(str(value))}"
                    if as_text
                    else f"give {knob.kind}"
                )
                message = f"Phase.{name} is to be {knob.kind}, not {_shown(value)}"
                self._say("PL-D012", message, mend, f"Phase.{name}")
        return PhasePolicy(**values)

    def _providers(self) -> tuple[str, ...]:
        """Return the names of the providers that the phase is for. An empty result means all providers; the word
        ``none`` in the definition means the same (P101).
        """
        found = self._names("HandlesProvider")
        other = self._names("ForProvider")
        if found and other and {name.lower() for name in found} != {name.lower() for name in other}:
            message = (
                f"HandlesProvider is {', '.join(found)} and ForProvider, which means the same, is {', '.join(other)}"
            )
            self._say("PL-D014", message, "keep one of them", "ForProvider")
        found = found or other
        return () if [name.lower() for name in found] == ["none"] else found

    def _constraint(self) -> Expression | None:
        value = self.record.stored("ResourceConstraint")
        if value is None or isinstance(value, Expression):
            return value
        if isinstance(value, bool | int | float):
            return Expression(str(value).lower())
        if isinstance(value, str):
            text = _printable(value)
            message = f'ResourceConstraint is the text "{text}", not an expression'
            mend = f"write ResourceConstraint := {text}"
            self._say("PL-D013", message, mend, "ResourceConstraint")
        else:
            self._kind("ResourceConstraint", "an expression", value)
        return None

    # The listener

    def _listener(self, plugin: str) -> ListenerDefinition | None:
        if not self._flag("ResourceStateListener"):
            self._idle("ResourceStateListener", LISTENS)
            return None
        for name, what in (("ResourceStates", "states"), ("ResourceTypes", "resource types")):
            if name not in self.record:
                message = f"the listener names no {what}, so it is called for all"
                self._say(
                    "PL-D040",
                    message,
                    f"write {name} = and the {what} to listen to",
                    "ResourceStateListener",
                    is_warning=True,
                )
        return ListenerDefinition(
            plugin,
            self._names("ResourceStates"),
            self._names("ResourceTypes"),
            code=self._code("listener"),
            package=self.written.package,
            where=self.written.places.get("resourcestatelistener", self.written.where),
        )

    def _idle(self, attribute: str, functions: tuple[str, ...]) -> None:
        """Add warning PL-D041 if the module has one of these functions but the definition lacks ``attribute``: without
        the attribute, the engine never calls the function (P83).
        """
        source = self.written.source
        if source is None or source.functions is None or self.written.function:
            return
        if self.written.problems or (attribute in self.record and self.record.stored(attribute) is not False):
            return  # the attribute is given, though wrong: that is reported already
        there = next((name for name in functions if name in source.functions), None)
        if there is not None:
            word = f"{attribute} = true" if functions is LISTENS else f"{attribute} = and its states"
            message = f"the function '{there}' is never called: the definition has no {attribute}"
            where = source.place(source.functions[there].line, source.functions[there].column)
            self.problems.append(Problem("PL-D041", message, f"write {word}", where, "warning"))

    # The code

    def _code(self, purpose: Literal["phase", "listener", ""]) -> PhaseCode | None:
        written, source = self.written, self.written.source
        if not written.module:
            return None
        usual = HANDLES if purpose == "phase" else LISTENS
        functions = {} if source is None or source.functions is None else source.functions
        wanted = written.function or next((name for name in usual if name in functions), usual[0] if purpose else "")
        function = functions.get(wanted)
        if purpose and source is not None and source.functions is not None:
            self._check_function(source, wanted, function, purpose)
        return PhaseCode(
            written.module,
            wanted,
            written.folders,
            "" if source is None else source.file,
            "handle" if function is None else function.form,
            function is not None and function.is_async,
        )

    def _check_function(
        self, source: ModuleSource, name: str, function: FunctionText | None, purpose: Literal["phase", "listener"]
    ) -> None:
        sample = "handle(handler)" if purpose == "phase" else "onStateTransition(event)"
        if function is None:
            if not source.is_open:
                hint = suggestion(name, source.functions or {})
                message = f"the module has no function '{name}'"
                self.problems.append(Problem("PL-D004", message, f"{hint}write def {sample}: …", Place(source.file)))
        elif function.arguments == 0 or function.arguments > (2 if purpose == "phase" else 1):
            message = f"'{name}' takes {function.arguments} arguments"
            more = " or def handle_one(resource, data)" if purpose == "phase" else ""
            place = source.place(function.line, function.column)
            self.problems.append(Problem("PL-D004", message, f"write def {sample}{more}", place))

    # Values

    def _names(self, attribute: str) -> tuple[str, ...]:
        return self._name_list(attribute, self.record.stored(attribute))

    def _name_list(self, attribute: str, value: Stored) -> tuple[str, ...]:
        items = value if isinstance(value, tuple) else () if value is None else (value,)
        if not all(isinstance(item, str) and item for item in items):
            self._kind(attribute, "a name or a list of names", value)
            return ()
        for item in items:
            self._refuse_name(attribute, str(item))
        return tuple(dict.fromkeys(str(item) for item in items))

    def _refuse_name(self, attribute: str, name: str) -> None:
        why = why_no_name(name)
        if why:
            self._say("PL-D012", f"the name '{shown_name(name)}' in {attribute} {why}", MEND, attribute)

    def _text(self, attribute: str, *, any_kind: bool = False) -> str:
        value = self.record.stored(attribute)
        if value is None or (isinstance(value, str) and value.isprintable()):
            return value or ""
        if any_kind and isinstance(value, int | float):
            return str(value)
        self._kind(attribute, "a text that can be printed", value)
        return ""

    def _flag(self, attribute: str) -> bool:
        value = self.record.stored(attribute)
        if value is None or isinstance(value, bool):
            return bool(value)
        self._kind(attribute, "true or false", value)
        return False

    def _kind(self, attribute: str, expected: str, value: Stored) -> None:
        message = f"{attribute} is to be {expected}, not {_shown(value)}"
        self._say("PL-D012", message, f"give {expected}", attribute)

    def _misspelled(self, name: str, known: tuple[str, ...], prefix: str) -> None:
        meant = closest(name, known, near=LIKELY)
        if meant:
            message = f"{prefix}{name} means nothing to the engine"
            mend = f"did you mean {prefix}{meant}? otherwise it is kept as an attribute of its own"
            self._say("PL-D015", message, mend, f"{prefix}{name}", is_warning=True)

    def _misspelled_phase(self) -> None:
        attributes = self._phase_attributes
        known = {name.lower() for name in OF_PHASE}
        for name in attributes:
            if name.lower() not in known:
                self._misspelled(name, OF_PHASE, "Phase.")
        if "Timeout" in attributes:
            message = "Phase.Timeout has no effect yet: how long a resource may stay in a phase is not limited"
            self._say("PL-D019", message, "limit each run with Phase.RunTimeout", "Phase.Timeout", is_warning=True)

    def _say(self, code: str, message: str, mend: str, attribute: str = "", *, is_warning: bool = False) -> None:
        self.problems.append(
            Problem(code, message, mend, self._place_of(attribute.lower()), "warning" if is_warning else "error")
        )

    def _place_of(self, attribute: str) -> Place:
        """Return the place of an attribute in the file, or the place of the whole definition if it is not given.

        An attribute ``phase.x`` is found in any of its spellings.
        """
        inner = attribute.removeprefix("phase.")
        spellings = (attribute, f"{OLD_PREFIX}{inner}", "phase") if inner != attribute else (attribute,)
        places = self.written.places
        return next((places[one] for one in spellings if one in places), self.written.where)


_FIELDS = {"description", "dependencies"}
_TOP_KEYS = {name.lower() for name in TOP}


def _shown(value: Stored) -> str:
    """Return a value as it is shown in messages."""
    if isinstance(value, Record | tuple | Expression) or value is None:
        return f"the {kind_of(value)} {value_json(value)!r:.60}"
    return f"'{_printable(str(value))}'"


def _printable(text: str) -> str:
    """Return the text with unprintable characters replaced, so that it cannot control a terminal."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
