"""Records whose attributes are fetched on first use: a run may have ten thousand, of which the
plugin reads only a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from phaseline.model.deployment.runtime_properties import SCALARS
from phaseline.records.coercion import records_in
from phaseline.records.record import Record

if TYPE_CHECKING:
    from phaseline.records.record import Path, Removed
    from phaseline.records.values import Stored

NOTHING: frozenset[str] = frozenset()
FETCHED = frozenset({"folded", "_names", "_changed", "_protected"})
"""Slots of a record that are filled on its first use."""
EMPTY: Mapping[str, object] = {
    **dict.fromkeys(("owner", "now", "_list_key", "_document", "_entry")),
    **dict.fromkeys(("is_fetched", "_is_frozen"), False),
}
"""Default values of slots: they are not set in each object, because that takes time and most records are never read."""


class LazyRecord(Record):
    """A record that is filled with the result of ``fetch`` on first use. The fetched values do not count as changes.

    >>> from contextlib import nullcontext
    >>> class Node(LazyRecord):
    ...     lock, only_engine = nullcontext(), frozenset({"name"})
    ...     def fetch(self):
    ...         return [("Name", "n1"), ("Disk", Record({"Size": 1}))]
    >>> node = Node()
    >>> node.is_fetched, node.get("disk.size"), node.is_fetched, node.changes()
    (False, 1, True, {})
    """

    __slots__ = ("_is_frozen", "is_fetched")

    only_engine: ClassVar[frozenset[str] | None] = NOTHING
    """Names of attributes, in lower case, that plugins may not set because only the engine does (see ``Record.protect``).

    None means that plugins may set no attribute.
    """

    def __init__(self) -> None:
        """Leave the slots empty until the first use, when ``fetch`` is called once, under the lock."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The reentrant lock that is held while the record is filled."""
        raise NotImplementedError

    def fetch(self) -> Iterable[tuple[str, Stored]]:
        """Return (name, value) of all attributes. If names differ only by case, the first one counts."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        """Return the default of an unset slot, or fill the record and return the slot's value.

        Python calls this only for attributes that are not set. Raises ``AttributeError`` for other names.
        """
        if name in EMPTY:
            return EMPTY[name]
        if name not in FETCHED:
            raise AttributeError(f"a record has no method or field {name!r}")
        with self.lock:
            if not self.is_fetched:
                self._fill()
        return object.__getattribute__(self, name)

    def _fill(self) -> None:
        folded: dict[str, Stored] = {}
        names: dict[str, str] = {}
        for name, value in self.fetch():
            key = name.lower()
            if key not in folded:
                folded[key] = value
                names[key] = name
                if type(value) not in SCALARS:
                    for nested in records_in(value):
                        nested.settle(self, key if isinstance(value, tuple) else None)
                        nested.forget_changes()
        self._names = names
        self._changed = {}
        self._protected = None if self._is_frozen else self.only_engine
        self.is_fetched = True
        self.folded = folded  # last: readers that find it take no lock

    def changes(self) -> dict[Path, Stored | Removed]:
        """Return the changes since the attributes were fetched; none before the first use."""
        return super().changes() if self.is_fetched else {}

    def forget_changes(self) -> None:
        """Regard the current values as saved, so that ``changes`` begins with an empty result."""
        if self.is_fetched:
            super().forget_changes()

    def freeze(self) -> None:
        """Make the record read-only from now on."""
        with self.lock:
            self._is_frozen = True
            if self.is_fetched:
                self._protected = None
                for value in self.folded.values():
                    if type(value) not in SCALARS:
                        for nested in records_in(value):
                            nested.freeze()
