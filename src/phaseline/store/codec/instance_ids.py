"""Ids of instances, stored as one text that is split only when an id is first needed.

Resuming an execution needs only the number of ids. Splitting a hundred thousand ids takes five milliseconds and eight
megabytes, and most bulk functions never use an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

SEPARATOR = "\0"
"""Character between two ids: the only one that no YAML name can contain."""
FEW = 1_000
"""Largest number of ids that are split when they are loaded, which costs little; more are split at the first read."""


class StoredIds(Sequence[str]):
    """Sequence of ids that splits its text when an id is first read.

    Its text is ASCII, so decoding cannot fail later.
    """

    __slots__ = ("_count", "_cut", "_text")

    def __init__(self, text: bytes, count: int) -> None:
        """Do not call: ``ids_from`` makes these objects."""
        self._text, self._count = text, count
        self._cut: list[str] | None = None

    def _all(self) -> list[str]:
        if self._cut is None:
            self._cut = self._text.decode().split(SEPARATOR)
            self._text = b""
        return self._cut

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return (self._cut or self._all())[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __contains__(self, id: object) -> bool:
        return id in self._all()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredIds):
            return self._all() == other._all()
        return self._all() == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list


def ids_from(text: bytes) -> Sequence[str]:
    """Return the ids that are stored in a column, in the order of the instances. Raises: UnicodeDecodeError.

    >>> list(ids_from(b"vm_1" + SEPARATOR.encode() + b"vm_2"))
    ['vm_1', 'vm_2']
    """
    if not text:
        return []
    count = text.count(SEPARATOR.encode()) + 1
    return StoredIds(text, count) if count > FEW and text.isascii() else text.decode().split(SEPARATOR)
