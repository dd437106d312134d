"""Gives the reader of blueprints its files: those below the blueprint's folder and further allowed folders, nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from phaseline.model.problem import Place, Problem, ProblemsError

TYPES = Path(__file__).parent.parent / "dsl" / "types"
"""The types files that come with the program."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Larger files are taken for a mistake; 100,000 node templates have about half of it."""


class BlueprintFiles:
    """``dsl.Source`` over the file system. Links are followed before it is decided whether a file is allowed (B6)."""

    def __init__(
        self,
        main: str,
        more_folders: Sequence[str] = (),
        *,
        allowed_imports: Sequence[str] = (),
        limit_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        """``main``: the main file; its folder and ``more_folders`` are the roots that imports must stay in.

        ``allowed_imports``: beginnings of addresses in the web that files may be fetched from.
        """
        self._allowed_imports = allowed_imports
        self._main = main
        self._folder = Path(main).parent
        self._roots = [self._folder.resolve(), *(Path(root).resolve() for root in more_folders)]
        self._limit_bytes = limit_bytes
        self._entries: frozenset[str] | None = None

    def find(self, name: str, importer: str) -> str | None:
        """The file that a name means: as given, beside the importing file, beside the main file, in a further folder."""
        if "\0" in name:
            return None
        folders = [Path(), Path(importer).parent, self._folder, *self._roots[1:]]
        outside = False
        for folder in folders:
            path = folder / name
            if not _is_file(path):
                continue
            if self._is_allowed(path):
                return os.path.normpath(path)
            outside = True
        if outside:
            message = f"'{name}' lies outside the blueprint's folder"
            raise _refusal(
                "PL-B021", message, "Copy the file below the folder of the blueprint and import it there.", ""
            )
        return None

    def read(self, path: str) -> str | None:
        """The text of a file, or None if there is none."""
        file = Path(path)
        try:
            if not path:
                raise _refusal("PL-B001", "no file is named: its name is empty", "Name a file with a blueprint.", path)
            if file.is_dir():
                raise _refusal("PL-B001", f"'{path}' is a folder", "Name the file in it, such as blueprint.yaml.", path)
            if not file.exists():
                return None
            if not file.is_file():
                raise _refusal("PL-B001", f"'{path}' is no regular file", "Name a file with a blueprint in it.", path)
            with file.open("rb") as handle:
                content = handle.read(self._limit_bytes + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "this cannot be a path"
            message = f"'{path}' cannot be read: {reason}"
            raise _refusal(
                "PL-B001", message, "Give yourself the permission to read it, or name another file.", path
            ) from error
        if len(content) > self._limit_bytes:
            message = f"'{path}' has more than {self._limit_bytes:,} bytes"
            raise _refusal("PL-B003", message, "Split the blueprint into several files.", path)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"'{path}' is not UTF-8 text: byte {error.start + 1} is no part of a character"
            raise _refusal("PL-B002", message, "Save the file as UTF-8.", path) from error

    def fetch(self, url: str) -> str | None:
        """The text of a file in the web, or None if there is none."""
        from phaseline.catalog.web_files import WebFiles  # few blueprints need it, and it takes 20 ms to import

        return WebFiles(self._allowed_imports, limit_bytes=self._limit_bytes).fetch(url)

    def bundled(self, name: str) -> str | None:
        """The text of a built-in types file, or None if there is none of this name."""
        return _bundled(name)

    def replacements(self, target: str, minor: int) -> Sequence[str]:  # noqa: ARG002 - the protocol's signature
        """The import itself."""
        return (target,)

    def uploaded(self, blueprint: str) -> str | None:  # noqa: ARG002 - the protocol's signature
        """None: no blueprint is stored yet."""
        return None

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:  # noqa: ARG002 - the protocol's signature
        """None: there is no catalogue of definition files yet."""
        return None

    def exists(self, path: str) -> bool:
        """Whether a script of this relative path lies in the blueprint's folder.

        One listing of the folder spares a look for each of ten thousand function names.
        """
        if self._entries is None:
            try:
                self._entries = frozenset(entry.name for entry in self._folder.iterdir())
            except OSError:
                self._entries = frozenset()
        first = path.partition("/")[0]
        if first not in self._entries and first not in {"", ".", ".."}:
            return False
        file = self._folder / path
        return "\0" not in path and _is_file(file) and file.resolve().is_relative_to(self._roots[0])

    def _is_allowed(self, path: Path) -> bool:
        real = path.resolve()
        return any(real.is_relative_to(root) for root in self._roots)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # a name that no file can have: too long, for example


@lru_cache(maxsize=64)
def _bundled(name: str) -> str | None:
    file = TYPES.joinpath(*name.split("/"))
    return file.read_text("utf-8") if file.is_file() else None


def _refusal(code: str, message: str, mend: str, file: str) -> ProblemsError:
    return ProblemsError(
        [Problem(code, message, mend, Place(file), cloudify_code=13, cloudify_class="DSLParsingLogicException")]
    )
