"""The source of files for reading a blueprint, limited to allowed folders.

The result of reading depends only on the answers of the source. To decide whether an earlier result is still valid,
``RecordingSource`` asks the same questions again: if all answers are equal, the result is equal, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from phaseline.model.problems.problem import ProblemsError

T = TypeVar("T", bound="str | bool | Sequence[str] | None")
Answer = str | bool | Sequence[str] | None
"""Type of the answers that a source may give."""


class FileSource(Protocol):
    """Returns the texts of blueprint files. All paths are written as a user would write them.

    A file that exists but cannot be used (unreadable, not UTF-8, too large, outside the allowed
    folders) raises ``ProblemsError`` with PL-B001, PL-B002, PL-B003 or PL-B021.
    """

    def find(self, name: str, importer: str) -> str | None:
        """Return the path of the file that ``name`` means in the file ``importer``, or None if there is none."""
        ...

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None if there is none."""
        ...

    def fetch(self, url: str) -> str | None:
        """Return the text of a file in the web (``http`` or ``https``), or None if there is none.

        Raises ``ProblemsError``: PL-B028 for an address that is not allowed, PL-B029 if the file cannot be fetched.
        """
        ...

    def bundled(self, name: str) -> str | None:
        """Return the text of a built-in types file such as ``types.yaml``, or None if there is none."""
        ...

    def exists(self, path: str) -> bool:
        """Return True if the blueprint's folder has a file with this relative path, which may name a script."""
        ...

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """Return what to try for an import, in this order: its replacements by rules, then the import itself.

        The import itself is left out if a rule forbids it (B6). ``minor`` is the minor version of the main file.
        """
        ...

    def uploaded(self, blueprint: str) -> str | None:
        """Return the path of the main file of an uploaded blueprint, or None if there is none with this id."""
        ...

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:
        """Return the path of a plugin's definition file, or None if it is not available.

        ``version`` is a PEP 440 specifier or empty. ``minor`` is the minor version of the main file.
        """
        ...


class RecordingSource:
    """Passes all questions to another source, and records them with the answers.

    ``raised`` is True if an answer was a problem. ``size`` is the number of characters in all answers.
    """

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.heard: list[tuple[str, tuple[str | int, ...], Answer]] = []
        self.raised = False
        self.size = 0

    def find(self, name: str, importer: str) -> str | None:
        """Ask the source and record the answer."""
        return self._asked("find", self._source.find, name, importer)

    def read(self, path: str) -> str | None:
        """Ask the source and record the answer."""
        return self._asked("read", self._source.read, path)

    def fetch(self, url: str) -> str | None:
        """Ask the source and record the answer."""
        return self._asked("fetch", self._source.fetch, url)

    def bundled(self, name: str) -> str | None:
        """Ask the source and record the answer."""
        return self._asked("bundled", self._source.bundled, name)

    def exists(self, path: str) -> bool:
        """Ask the source and record the answer."""
        return self._asked("exists", self._source.exists, path)

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """Ask the source and record the answer."""
        return tuple(self._asked("replacements", self._source.replacements, target, minor))

    def uploaded(self, blueprint: str) -> str | None:
        """Ask the source and record the answer."""
        return self._asked("uploaded", self._source.uploaded, blueprint)

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:
        """Ask the source and record the answer."""
        return self._asked("plugin", self._source.plugin, name, version, distribution, minor)

    def agrees(self, source: FileSource) -> bool:
        """Return True if another source gives equal answers to the recorded questions, asked in the same order.

        Otherwise do not use that source for reading: it may have prepared files for questions that are no longer asked.
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
