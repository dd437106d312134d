"""A record: attributes by name, regardless of upper and lower case; it remembers which attributes were changed.

A record is mutable, because plugins write into it; the code that stores it uses ``changes``. Code that needs an
unchanging record takes a ``snapshot``. Its methods also have the names that the CycleCloud document uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from phaseline.records import conversions
from phaseline.records.attribute_paths import descend, follow, steps_of
from phaseline.records.coercion import admitted, is_whole, records_in
from phaseline.records.conversions import AttributeTypeError, AttributeValueError
from phaseline.records.expression import Expression, attribute_value
from phaseline.records.values import is_identical, kind_of

if TYPE_CHECKING:
    from phaseline.records.coercion import Given
    from phaseline.records.values import Stored, Value

TYPE = "AdType"
"""The attribute that names the type of a record."""
Path: TypeAlias = tuple[str, ...]
"""The names on the way from a record down to an attribute of a nested record."""


class Removed(Enum):
    """The value that marks a removed attribute in a list of changes."""

    REMOVED = "removed"


class ReadOnlyAttributeError(TypeError):
    """An attempt to write an attribute that only the engine may write, or an attribute of a snapshot."""

    def __init__(self, name: str, reason: str) -> None:
        """Store ``name``, the attribute's name, with the reason."""
        super().__init__(f"'{name}' cannot be written: {reason}")
        self.name = name


ReadOnlyAttributeError.__name__ = ReadOnlyAttributeError.__qualname__ = "ReadOnlyError"
"""Name in messages and in stored errors; equals the public name ``phaseline.ReadOnlyError``."""


class Record:
    """Attributes in the order in which they were first set; names may be paths into nested records.

    ``folded`` is {name in lower case: value}, for evaluation. ``owner`` is the record that contains this one. ``now``
    is seconds since the epoch, for expressions that use the time.
    """

    __slots__ = ("_changed", "_list_key", "_names", "_protected", "folded", "now", "owner")

    def __init__(
        self, attributes: Mapping[str, Given] | Iterable[tuple[str, Given]] = (), *, type_name: str = ""
    ) -> None:
        """Create a record with these attributes, which all count as changed until ``forget_changes``; names are kept as given."""
        self.folded: dict[str, Stored] = {}
        self.owner: Record | None = None
        self.now: float | None = None
        self._names: dict[str, str] = {}
        self._changed: dict[str, None] = {}
        self._list_key: str | None = None
        self._protected: frozenset[str] | None = frozenset()
        if type_name:
            self.put(TYPE, type_name)
        for name, value in attributes.items() if isinstance(attributes, Mapping) else attributes:
            self.put(name, value)

    @property
    def kind(self) -> type[Record]:
        """The class that is used for nested records."""
        return Record

    @property
    def type_name(self) -> str:
        """Type of the record, such as ``Cloud.Node``: the value of its attribute ``AdType``."""
        found = self.folded.get(TYPE.lower())
        return found if isinstance(found, str) else ""

    # Reading

    def get(self, name: str, default: Value = None) -> Value:
        """Return the value of an attribute, with expressions evaluated, or ``default`` if it is undefined."""
        found = follow(self, name)
        if found is None:
            return default
        owner, key = found
        value = owner._value(key)
        return default if value is None else value

    def stored(self, name: str) -> Stored:
        """Return the value as it is stored: an expression is not evaluated."""
        found = follow(self, name)
        return None if found is None else found[0].folded[found[1]]

    def get_expression(self, name: str) -> str | None:
        """Return the text of an attribute that is an expression, else None."""
        found = self.stored(name)
        return found.text if isinstance(found, Expression) else None

    def is_defined(self, name: str) -> bool:
        """Return False for an attribute that is missing, and for one whose value is undefined."""
        return self.get(name) is not None

    def get_as_string(self, name: str) -> str | None:
        """Return the value as text; None if it is undefined.

        This method and the other ``get_as_…`` raise ``AttributeTypeError`` if the conversion would lose data.
        """
        return conversions.as_string(name, self.get(name))

    def get_as_integer(self, name: str) -> int | None:
        """Return the value as integer, or None if it is undefined."""
        return conversions.as_integer(name, self.get(name))

    def get_as_double(self, name: str) -> float | None:
        """Return the value as real number, or None if it is undefined."""
        return conversions.as_double(name, self.get(name))

    def get_as_boolean(self, name: str) -> bool | None:
        """Return the value as truth value, or None if it is undefined."""
        return conversions.as_boolean(name, self.get(name))

    def get_as_date(self, name: str) -> datetime | None:
        """Return the value as time with its zone, or None if it is undefined."""
        return conversions.as_date(name, self.get(name))

    def get_as_list(self, name: str) -> list[Value] | None:
        """Return the value as a new list; to change the attribute, set it again."""
        return conversions.as_list(name, self.get(name))

    def get_as_record(self, name: str) -> Record | None:
        """Return the nested record itself, not a copy: changes to it change this record."""
        value = self.get(name)
        if value is None or isinstance(value, Record):
            return value
        raise AttributeTypeError(name, f"is the {kind_of(value)}, not a record")

    def get_attribute_names(self) -> list[str]:
        """Return the names of the attributes, spelled as when they were first set."""
        return [self._names[key] for key in self.folded]

    def to_dict(self) -> dict[str, object]:
        """Return {name: value} with expressions evaluated and nested records as dicts; undefined values are left out."""
        values = {self._names[key]: self._value(key) for key in self.folded}
        return {name: _plain(value) for name, value in values.items() if value is not None}

    def spelling(self, key: str) -> str:
        """Return the name of the attribute with this key, spelled as when it was first set."""
        return self._names.get(key, key)

    def _value(self, key: str) -> Value:
        value = self.folded[key]
        return attribute_value(self, key, self._clock()) if isinstance(value, Expression) else value

    def _clock(self) -> float | None:
        scope: Record | None = self
        while scope is not None and scope.now is None:
            scope = scope.owner
        return None if scope is None else scope.now

    # Writing

    def set(self, name: str, value: Given) -> None:
        """Set the attribute; for a path, missing nested records are created.

        Raises: ``ReadOnlyAttributeError``; ``AttributeTypeError`` for a type that attributes cannot have, or a path
        through a value that is not a record; ``AttributeValueError`` for a value that is too large.
        """
        steps = [name] if name.lower() in self.folded else steps_of(name)
        owner, steps = descend(self, steps)
        for step in steps[:-1]:
            between = owner.folded.get(step.lower())
            if between is not None:
                raise AttributeTypeError(step, f"is the {kind_of(between)}, not a record: '{name}' leads through it")
            owner.put(step, Record())
            nested = owner.folded[step.lower()]
            assert isinstance(nested, Record)
            owner = nested
        owner.put(steps[-1], value)

    def put(self, name: str, value: Given) -> None:
        """Set an attribute of this record, not of a nested one: dots in ``name`` are part of the name."""
        if not name:
            raise AttributeValueError(name, "is no name")
        key = name.lower()
        protected = self._protected
        if protected is None or key in protected:
            raise _refusal(name, protected)
        kept = admitted(name, value, self)
        if key in self.folded:
            self._let_go(key)
        self.folded[key] = kept
        self._names.setdefault(key, name)
        self.touch(key)

    def remove(self, name: str) -> None:
        """Remove the attribute; no error if it is missing."""
        found = follow(self, name)
        if found is not None:
            owner, key = found
            if owner._protected is None or key in owner._protected:
                raise _refusal(name, owner._protected)
            owner._let_go(key)
            del owner.folded[key]
            owner.touch(key)

    def set_string(self, name: str, value: str | None) -> None:
        """Set a text; None means undefined.

        This method and the other ``set_…`` raise ``AttributeTypeError`` for a value of another type.
        """
        self._set_kind(name, value, str, "string")

    def set_integer(self, name: str, value: int | None) -> None:
        """Set an integer of 64 bits."""
        self._set_kind(name, value, int, "integer")

    def set_double(self, name: str, value: float | None) -> None:
        """Set a real number."""
        self._set_kind(name, value if value is None or not _is_integer(value) else float(value), float, "real")

    def set_boolean(self, name: str, value: bool | None) -> None:
        """Set a truth value."""
        self._set_kind(name, value, bool, "boolean")

    def set_date(self, name: str, value: datetime | float | None) -> None:
        """Set a time, given as a ``datetime`` or in seconds since the epoch."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        moment = datetime.fromtimestamp(value, UTC) if is_number else value  # type: ignore[arg-type]  # a number
        self._set_kind(name, moment, datetime, "time")

    def set_list(self, name: str, value: Iterable[Given] | None) -> None:
        """Set a list."""
        is_list = isinstance(value, Iterable) and not isinstance(value, str | Mapping | Record)
        self._set_kind(name, tuple(value) if is_list and value is not None else value, tuple, "list")  # type: ignore[arg-type]  # checked there

    def set_record(self, name: str, value: Record | Mapping[str, Given] | None) -> None:
        """Set a nested record; a record that already belongs to another record is copied."""
        self._set_kind(name, Record(value) if isinstance(value, Mapping) else value, Record, "record")

    def set_expression(self, name: str, text: str) -> None:
        """Set an expression. Raises ``ProblemsError`` for a text that cannot be read."""
        self.set(name, Expression(text, subject=name))

    def _set_kind(self, name: str, value: Given, kind: type, word: str) -> None:
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise AttributeTypeError(name, f"is to be a {word}, this is the {kind_of(value)} {value!r:.60}")
        self.set(name, value)

    def _let_go(self, key: str) -> None:
        for nested in records_in(self.folded.get(key)):
            nested.owner = nested._list_key = None

    def settle(self, owner: Record, list_key: str | None) -> None:
        """Make ``owner`` the record that contains this one.

        ``list_key`` is the attribute of ``owner`` whose list contains this record, or None if it is not in a list.
        """
        self.owner = owner
        self._list_key = list_key

    # What was changed

    def touch(self, key: str) -> None:
        """Mark the attribute as changed; if this record is in a list, also mark that list in the containing record."""
        self._changed[key] = None
        if self._list_key is not None and self.owner is not None:
            self.owner.touch(self._list_key)

    def changes(self) -> dict[Path, Stored | Removed]:
        """Return the changes since ``forget_changes`` as {path: value, or ``Removed.REMOVED``}.

        Changes within a nested record have paths of their own unless the whole nested record was set.
        """
        found: dict[Path, Stored | Removed] = {
            (self._names[key],): self.folded.get(key) if key in self.folded else Removed.REMOVED
            for key in self._changed
        }
        for key, value in self.folded.items():
            if isinstance(value, Record) and key not in self._changed:
                found.update({(self._names[key], *path): change for path, change in value.changes().items()})
        return found

    def apply(self, changes: Mapping[Path, Stored | Removed]) -> None:
        """Apply changes that were made to a copy of this record; all other attributes keep their values."""
        for path, change in changes.items():
            name = ".".join("'" + step.replace("\\", "\\\\").replace("'", "\\'") + "'" for step in path)
            if isinstance(change, Removed):
                self.remove(name)
            else:
                self.set(name, change.copy() if isinstance(change, Record) else change)

    def forget_changes(self) -> None:
        """Treat all changes up to now as saved."""
        self._changed.clear()
        for value in self.folded.values():
            if not is_whole(value):
                for nested in records_in(value):
                    nested.forget_changes()

    # Copies and protection

    def copy(self) -> Record:
        """Return an independent, writable copy with equal values, in which nothing is marked as changed."""
        twin = Record()
        for key, value in self.folded.items():
            twin.folded[key] = value if is_whole(value) else admitted(self._names[key], value, twin)
        twin._names = {key: self._names[key] for key in self.folded}
        twin.now = self.now
        twin.forget_changes()
        return twin

    def snapshot(self) -> Record:
        """Return a copy that raises ``ReadOnlyAttributeError`` when it is written."""
        twin = self.copy()
        twin.freeze()
        return twin

    def freeze(self) -> None:
        """Make this record and all records in it read-only."""
        self._protected = None
        for value in self.folded.values():
            for nested in records_in(value):
                nested.freeze()

    def protect(self, names: Iterable[str]) -> None:
        """Make these attributes read-only, and all others writable."""
        self._protected = frozenset(name.lower() for name in names)

    # Python's own ways

    def __getitem__(self, name: str) -> Value:
        """Return the value of the attribute. Raises ``KeyError`` if it does not exist."""
        if follow(self, name) is None:
            raise KeyError(name)
        return self.get(name)

    def __setitem__(self, name: str, value: Given) -> None:
        """Set an attribute, as ``set`` does."""
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        """Remove an attribute, as ``remove`` does; raise ``KeyError`` if it does not exist."""
        if follow(self, name) is None:
            raise KeyError(name)
        self.remove(name)

    def __contains__(self, name: object) -> bool:
        """Return True if the attribute exists, even if its value is undefined."""
        return isinstance(name, str) and follow(self, name) is not None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the attributes."""
        return iter(self.get_attribute_names())

    def __len__(self) -> int:
        """Return the number of attributes, without those of nested records."""
        return len(self.folded)

    def __bool__(self) -> bool:
        """Return True, even for a record without attributes."""
        return True

    def __eq__(self, other: object) -> bool:
        """Return True if both records have the same names, regardless of order and case, and identical values.

        Expressions are compared by their text.
        """
        if not isinstance(other, Record):
            return NotImplemented
        return self.folded.keys() == other.folded.keys() and all(
            is_identical(value, other.folded[key]) for key, value in self.folded.items()
        )

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __repr__(self) -> str:
        """Return a Python expression that creates an equal object."""
        shown = ", ".join(f"{self._names[key]!r}: {value!r}" for key, value in self.folded.items())
        return f"Record({{{shown}}})"

    # The names of the source document
    getAsString, getAsInteger, getAsDouble = get_as_string, get_as_integer, get_as_double
    getAsBoolean, getAsDate, getAsList, getAsRecord = get_as_boolean, get_as_date, get_as_list, get_as_record
    setString, setInteger, setDouble, setBoolean = set_string, set_integer, set_double, set_boolean
    setDate, setList, setRecord, setExpression = set_date, set_list, set_record, set_expression
    getExpression, isDefined, getAttributeNames, toDict = get_expression, is_defined, get_attribute_names, to_dict


def _refusal(name: str, protected: frozenset[str] | None) -> ReadOnlyAttributeError:
    return ReadOnlyAttributeError(
        name, "this record is a snapshot" if protected is None else "only the engine writes it"
    )


def _plain(value: Value) -> object:
    if isinstance(value, Record):
        return value.to_dict()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
