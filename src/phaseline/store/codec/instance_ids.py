"""The stored ids of instances: one text, split when an id is first needed.

Resuming an execution needs only their number. A hundred thousand texts take five milliseconds and
eight megabytes, and most bulk functions never use an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

SEPARATOR = "\0"
"""Between ids; the one character that no YAML name can contain."""
FEW = 1_000
"""The most ids that are cut at once."""


class StoredIds(Sequence[str]):
    """Ids that are cut from their text at the first look at one; ASCII, so that every one of them can be read."""

    __slots__ = ("_count", "_cut", "_text")

    def __init__(self, text: bytes, count: int) -> None:
        """Use ``ids_from``."""
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
    """The ids in their column, in the order of the instances. Raises: UnicodeDecodeError.

    >>> list(ids_from(b"vm_1" + SEPARATOR.encode() + b"vm_2"))
    ['vm_1', 'vm_2']
    """
    if not text:
        return []
    count = text.count(SEPARATOR.encode()) + 1
    return StoredIds(text, count) if count > FEW and text.isascii() else text.decode().split(SEPARATOR)
