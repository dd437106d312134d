"""The source of files for reading a blueprint, within the allowed roots.

Reading is a pure function of the source's answers. To reuse a result, the same questions are asked again (``RecordingSource``):
each file is opened again, whatever its time stamp, and while all answers are equal, the result is, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from phaseline.model.problems.problem import ProblemsError

T = TypeVar("T", bound="str | bool | Sequence[str] | None")
Answer = str | bool | Sequence[str] | None
"""What a source may answer."""


class FileSource(Protocol):
    """Gives texts of blueprint files. All paths are as a user would write them.

    A file that exists but cannot be used (unreadable, not UTF-8, too large, outside the allowed
    roots) raises ``ProblemsError`` with PL-B001, PL-B002, PL-B003 or PL-B021.
    """

    def find(self, name: str, importer: str) -> str | None:
        """The path of the file that ``name`` means in the file ``importer``; None when there is none."""
        ...

    def read(self, path: str) -> str | None:
        """The text of a file; None when there is none."""
        ...

    def fetch(self, url: str) -> str | None:
        """The text of a file in the web, by ``http`` or ``https``; None when there is none.

        Raises ``ProblemsError`` with PL-B028 for an address that is not allowed, with PL-B029 if it cannot be had.
        """
        ...

    def bundled(self, name: str) -> str | None:
        """The text of a built-in types file such as ``types.yaml``; None when there is none."""
        ...

    def exists(self, path: str) -> bool:
        """True when the blueprint's folder has a file of this relative path, as scripts are named."""
        ...

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """What to try for an import, in this order: what rules make of it, and it itself unless that is forbidden (B6).

        ``minor``: the version of the main file, for what has files of several.
        """
        ...

    def uploaded(self, blueprint: str) -> str | None:
        """The path of the main file of an uploaded blueprint; None when there is none of this id."""
        ...

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:
        """The path of a plugin's definition file; None if it is not available.

        ``version``: a PEP 440 specifier, or empty; ``minor`` as of ``replacements``.
        """
        ...


class RecordingSource:
    """A source that writes down what another one was asked, and what it answered. ``raised``: one of the answers was a problem.

    ``size``: characters of all answers that are texts or paths.
    """

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.heard: list[tuple[str, tuple[str | int, ...], Answer]] = []
        self.raised = False
        self.size = 0

    def find(self, name: str, importer: str) -> str | None:
        """As of the source."""
        return self._asked("find", self._source.find, name, importer)

    def read(self, path: str) -> str | None:
        """As of the source."""
        return self._asked("read", self._source.read, path)

    def fetch(self, url: str) -> str | None:
        """As of the source."""
        return self._asked("fetch", self._source.fetch, url)

    def bundled(self, name: str) -> str | None:
        """As of the source."""
        return self._asked("bundled", self._source.bundled, name)

    def exists(self, path: str) -> bool:
        """As of the source."""
        return self._asked("exists", self._source.exists, path)

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """As of the source."""
        return tuple(self._asked("replacements", self._source.replacements, target, minor))

    def uploaded(self, blueprint: str) -> str | None:
        """As of the source."""
        return self._asked("uploaded", self._source.uploaded, blueprint)

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:
        """As of the source."""
        return self._asked("plugin", self._source.plugin, name, version, distribution, minor)

    def agrees(self, source: FileSource) -> bool:
        """True if another source gives the same answers to the same questions, asked in the same order.

        If it does not, that source may have done work for questions that are no longer asked, so use a new one for reading.
        """
        try:
            return not self.raised and all(getattr(source, how)(*asked) == answer for how, asked, answer in self.heard)
        except ProblemsError:
            return False

    def _asked(self, how: str, ask: Callable[..., T], *asked: str | int) -> T:
        try:
            answer = ask(*asked)
        except ProblemsError:
            self.raised = True
            raise
        self.size += len(answer) if isinstance(answer, str) else 1
        self.heard.append((how, asked, answer))
        return answer
