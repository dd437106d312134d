"""Records whose attributes are fetched on first use: of ten thousand that a run provides, few may be read."""

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
"""Slots of a record that stay empty until its first use."""
EMPTY: Mapping[str, object] = {
    **dict.fromkeys(("owner", "now", "_list_key", "_document", "_entry")),
    **dict.fromkeys(("is_fetched", "_is_frozen"), False),
}
"""Values of slots that are not filled yet: most records of a run are never read, and filling takes time."""


class LazyRecord(Record):
    """A record that fills itself with the result of ``fetch``; that does not count as changed.

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
    """The names that only the engine sets, as for ``protect``, in lower case; None: nothing can be written."""

    def __init__(self) -> None:
        """Leave the slots empty; ``fetch`` is called once, under the lock."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while the record is filled; reentrant."""
        raise NotImplementedError

    def fetch(self) -> Iterable[tuple[str, Stored]]:
        """(name, value) of the attributes; of names that differ only by case the first counts."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        """The default of an unfilled slot, or the value after filling the record; other attributes do not exist."""
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
        """The changes, as of any record; none before the first use."""
        return super().changes() if self.is_fetched else {}

    def forget_changes(self) -> None:
        """Count the present values as saved."""
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
