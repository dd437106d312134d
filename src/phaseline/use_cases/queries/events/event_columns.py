"""Lines of events in columns, ordered by time and converted to objects one page at a time: about 30 bytes a line."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

import numpy as np

from phaseline.views.views import Line

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

PAGE = 1_000
"""Lines made into objects at once."""
MOST_TEXTS = 10_000
"""Distinct texts kept in memory. Results of calls may differ for each call; further ones go to a temporary file."""
RANKS = 4
"""More than there are ranks among lines of one millisecond."""
Head = tuple[str, str, str]
"""(level, operation, actor)."""


def temporary_file() -> IO[bytes]:
    """A temporary file that is deleted when it is closed."""
    from tempfile import TemporaryFile  # loads many modules; few executions have that many texts

    return TemporaryFile()


class EventColumns:
    """Lines of one execution. Lines with equal time and rank stay in the order in which they were added."""

    def __init__(self, topology: Topology, deployment: str, new_file: Callable[[], IO[bytes]] = temporary_file) -> None:
        """Begin without lines. ``new_file``: a function that returns the file for texts."""
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

        ``instance``: the number of its instance, for a relationship of the source instance; -1: none.
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
        """All lines, or the last ``limit``, by time; afterwards no line can be added."""
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
    """The order of lines with the same time (ms): first events of the execution except its end, its end last."""
    if kind in {"workflow_succeeded", "workflow_failed", "workflow_cancelled"}:
        return 2
    return 1 if kind in {"task", "workflow_node_event", "late_result"} else 0


class _Texts:
    """Texts by number: the first ones in memory, further ones (below 0) in a temporary file, if there is room for one."""

    def __init__(self, new_file: Callable[[], IO[bytes]]) -> None:
        self._new_file = new_file
        self._known: dict[str, int] = {}
        self._texts: list[str] = []
        self._file: IO[bytes] | None = None
        self._begins = array("q", [0])

    def add(self, text: str) -> int:
        """Store a text and return its number."""
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
        """The text of the number."""
        if number >= 0:
            return self._texts[number]
        assert self._file is not None, "a number below 0 was given for what was written"
        begin, end = self._begins[-number - 1 : -number + 1]
        self._file.seek(begin)
        return self._file.read(end - begin).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the temporary file; no text can be read afterwards."""
        if self._file is not None:
            self._file.close()
