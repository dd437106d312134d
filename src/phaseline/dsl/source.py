"""What reading a blueprint needs of the outside: files, within the roots that are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Source(Protocol):
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
        """The path of a plugin's definition file; None when it is not at hand.

        ``version``: a PEP 440 specifier, or empty; ``minor`` as of ``replacements``.
        """
        ...
