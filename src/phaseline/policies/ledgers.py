"""Reservations of limited resources, stored in a file that several processes may use at once.

A hook class needs a file of its own for reservations, because the decisions that the engine stores belong to one
execution only.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias


class Share(NamedTuple):
    """The reservation of one instance: the place where it is reserved, such as a rack, and the reserved amounts {kind:
    number}.
    """

    place: str
    needs: Mapping[str, float]


Books: TypeAlias = dict[str, dict[str, Share]]
"""All reservations: {deployment: {instance: its share}}."""


class Ledger:
    """The file with the reservations. It is replaced as a whole, so that its old content stays if a process dies."""

    def __init__(self, path: str) -> None:
        """Use the file at ``path``. The file and its folder are created with the first reservation."""
        self._path = Path(path).expanduser().absolute()

    @contextmanager
    def open(self) -> Iterator[Books]:
        """Open all reservations for changes in a ``with`` block, under an exclusive lock.

        If an exception leaves the block, no change is written.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_name(self._path.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self._read()
            books = {name: dict(shares) for name, shares in before.items()}
            yield books
            found = {name: shares for name, shares in books.items() if shares}
            if found != before:
                self._write(found)

    def _read(self) -> Books:
        try:
            text = self._path.read_text("utf-8")
        except FileNotFoundError:
            return {}
        found: Books = {
            name: {one: Share(place, needs) for one, (place, needs) in shares.items()}
            for name, shares in json.loads(text).items()
        }
        return found

    def _write(self, books: Books) -> None:
        beside = self._path.with_name(self._path.name + ".new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump(books, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
