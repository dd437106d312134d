"""Store event lines of an execution in columns, about 30 bytes a line, sort them by time and return them in pages."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

import numpy as np

from phaseline.views.views import Line

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

PAGE = 1_000
"""Number of lines in one page; only the lines of one page are made into objects at a time."""
MOST_TEXTS = 10_000
"""Number of distinct texts kept in memory; further texts go to a temporary file.

The limit is needed because each call may return another result, and results are part of the texts.
"""
RANKS = 4
"""Factor in the sort key ``time * RANKS + rank``. It is larger than every rank, so that time always decides first."""
Head = tuple[str, str, str]
"""(level, operation, actor) of a line; equal triples are stored once."""


def temporary_file() -> IO[bytes]:
    """Open a temporary file that is deleted when it is closed."""
    from tempfile import TemporaryFile  # loads many modules; few executions have that many texts

    return TemporaryFile()


class EventColumns:
    """The lines of one execution in columns. Lines with equal time and rank keep the order in which they were added."""

    def __init__(self, topology: Topology, deployment: str, new_file: Callable[[], IO[bytes]] = temporary_file) -> None:
        """Create columns without lines. ``new_file``: a function that opens the temporary file for texts."""
        self._topology, self._deployment = topology, deployment
        self._at, self._instance, self._target = array("q"), array("i"), array("i")
        self._head, self._text = array("i"), array("i")
        self._heads: dict[Head, int] = {}
        self._texts = _Texts(new_file)

    def __len__(self) -> int:
        """The number of lines."""
        return len(self._at)

    def add(self, line: Line, instance: int = -1) -> None:
        """Add a line.

        ``instance`` is the number of the instance that the line is about; for a relationship, its source instance; -1:
        it is about no instance.
        """
        target = -1
        if not line.instance:
            instance = -1
        elif line.instance != self._topology.ids[instance]:
            target = self._topology.number_of[line.instance[len(self._topology.ids[instance]) + 2 :]]
        self._at.append(line.at)
        self._instance.append(instance)
        self._target.append(target)
        self._head.append(self._heads.setdefault((line.level, line.operation, line.actor), len(self._heads)))
        self._text.append(self._texts.add(line.text))

    def pages(self, limit: int | None = None) -> Iterator[list[Line]]:
        """Yield all lines, or the last ``limit`` lines, by time, in pages. Afterwards no line can be added."""
        heads = list(self._heads)
        ranks = np.array([rank(level) for level, _, _ in heads] or [0], np.int64)
        key = np.frombuffer(self._at, np.int64) * RANKS + ranks[np.frombuffer(self._head, np.int32)]
        order = np.argsort(key, kind="stable")
        del key
        order = order if limit is None else order[max(0, len(order) - limit) :]
        try:
            for low in range(0, len(order), PAGE):
                yield [self._line(place, heads) for place in order[low : low + PAGE].tolist()]
        finally:
            self._texts.close()

    def _line(self, place: int, heads: Sequence[Head]) -> Line:
        ids, instance, target = self._topology.ids, self._instance[place], self._target[place]
        name = ("" if instance < 0 else ids[instance]) + ("" if target < 0 else f"->{ids[target]}")
        level, operation, actor = heads[self._head[place]]
        return Line(self._at[place], level, self._deployment, name, operation, self._texts[self._text[place]], actor)


def rank(kind: str) -> int:
    """Return the order among lines with the same time (ms).

    The result is 0 for events of the execution, 1 for events of its instances, 2 for the end of the execution.
    """
    if kind in {"workflow_succeeded", "workflow_failed", "workflow_cancelled"}:
        return 2
    return 1 if kind in {"task", "workflow_node_event", "late_result"} else 0


class _Texts:
    """A list of distinct texts that are read by number.

    The first texts stay in memory. Further texts, with numbers below 0, go to a temporary file if it can be written.
    """

    def __init__(self, new_file: Callable[[], IO[bytes]]) -> None:
        self._new_file = new_file
        self._known: dict[str, int] = {}
        self._texts: list[str] = []
        self._file: IO[bytes] | None = None
        self._begins = array("q", [0])

    def add(self, text: str) -> int:
        """Store a text unless it is known, and return its number."""
        number = self._known.get(text)
        if number is None and len(self._texts) >= MOST_TEXTS and self._is_written(text):
            return 1 - len(self._begins)
        if number is None:
            number = self._known[text] = len(self._texts)
            self._texts.append(text)
        return number

    def _is_written(self, text: str) -> bool:
        data = text.encode("utf-8", "surrogatepass")
        try:
            if self._file is None:
                self._file = self._new_file()
            self._file.seek(self._begins[-1])
            self._file.write(data)
            self._file.flush()
        except OSError:
            return False
        self._begins.append(self._begins[-1] + len(data))
        return True

    def __getitem__(self, number: int) -> str:
        """Return the text with this number."""
        if number >= 0:
            return self._texts[number]
        assert self._file is not None, "a number below 0 was given for what was written"
        begin, end = self._begins[-number - 1 : -number + 1]
        self._file.seek(begin)
        return self._file.read(end - begin).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the temporary file; its texts cannot be read afterwards."""
        if self._file is not None:
            self._file.close()
