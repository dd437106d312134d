"""Gives the reader of blueprints its files: those below the blueprint's folder and further allowed folders, nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.catalog.files.type_catalog import TypeFiles

TYPES = Path(__file__).parents[2] / "dsl" / "types"
"""The types files that come with the program."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Largest size of a file; 100,000 node templates have about half of it."""


class BlueprintFiles:
    """``dsl.Source`` over the file system. Links are followed before it is decided whether a file is allowed (B6)."""

    def __init__(
        self,
        main: str,
        more_folders: Sequence[str] = (),
        *,
        allowed_imports: Sequence[str] = (),
        types_folder: str = "",
        find_uploaded: Callable[[str], str | None] = lambda _: None,
        find_packaged: Callable[[str, str], str | None] = lambda _name, _version: None,
        import_rules: Sequence[tuple[str, str]] = (),
        import_fallback: bool = True,
        limit_bytes: int = MAX_FILE_BYTES,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``main``: the main file; its folder and ``more_folders`` are the roots that imports must stay in.

        ``allowed_imports``: beginnings of addresses in the web that files may be fetched from. ``types_folder``: the
        catalogue of plugins' definition files, empty for none. ``find_uploaded``: the main file of a stored blueprint,
        whose folder may be read from then on; ``find_packaged``: likewise the file with the types of an installed package, by
        its name and the wanted version. ``import_rules``: prefixes of imports and their replacements; a folder
        of this machine among these may be read from. ``import_fallback``: an import is tried unchanged, too.
        ``tell`` is called when a server makes us wait.
        """
        self._import_rules = import_rules
        self._import_fallback = import_fallback
        self._find_uploaded = find_uploaded
        self._find_packaged = find_packaged
        self._types_folder = types_folder
        self._allowed_imports = allowed_imports
        self._main = main
        self._folder = Path(main).parent
        self._more_folders = more_folders
        self._limit_bytes = limit_bytes
        self._tell = tell
        self._entries: frozenset[str] | None = None
        self._uploads: set[Path] = set()

    @cached_property
    def _roots(self) -> Sequence[Path]:
        """The folders that imports must stay in; most blueprints import only the built-in types."""
        return [self._folder.resolve(), *(Path(root).resolve() for root in self._more_folders)]

    @cached_property
    def _mirrors(self) -> Sequence[Path]:
        return [_folder_of(new).resolve() for _, new in self._import_rules if "://" not in new]

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
            message = f"'{name}' is outside the blueprint's folder"
            raise _refusal(
                "PL-B021", message, "copy the file below the folder of the blueprint and import it there", ""
            )
        return None

    def read(self, path: str) -> str | None:
        """The text of a file, or None if there is none."""
        file = Path(path)
        try:
            if not path:
                raise _refusal("PL-B001", "no file is named: its name is empty", "name a file with a blueprint", path)
            if not file.is_file():
                if file.is_dir():
                    mend = "name the file in it, such as blueprint.yaml"
                    raise _refusal("PL-B001", f"'{path}' is a folder", mend, path)
                if not file.exists():
                    return None
                raise _refusal("PL-B001", f"'{path}' is no regular file", "name a file with a blueprint in it", path)
            with file.open("rb") as handle:
                content = handle.read(self._limit_bytes + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the path contains invalid characters"
            message = f"'{path}' cannot be read: {reason}"
            raise _refusal(
                "PL-B001", message, "give yourself the permission to read it, or name another file", path
            ) from error
        if len(content) > self._limit_bytes:
            message = f"'{path}' has more than {self._limit_bytes:,} bytes"
            raise _refusal("PL-B003", message, "split the blueprint into several files", path)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"'{path}' is not UTF-8 text: byte {error.start + 1} is no part of a character"
            raise _refusal("PL-B002", message, "save the file as UTF-8", path) from error

    def fetch(self, url: str) -> str | None:
        """The text of a file in the web, or None if there is none."""
        from phaseline.catalog.files.type_catalog import public_address
        from phaseline.catalog.files.web_fetch import WebFiles, is_below  # few need it, and it takes 20 ms to import
        from phaseline.dsl.imports.importer import GO_ON

        published = public_address(url)
        if published is not None and not any(is_below(url, beginning) for beginning in self._allowed_imports):
            message = f"the definition file of the plugin '{published.name}' ({published.version}) is not available"
            mend = f"add it: phaseline plugins install --definition-only FILE, or {GO_ON}"
            raise _refusal("PL-B092", message, mend, url)
        return WebFiles(self._allowed_imports, limit_bytes=self._limit_bytes, tell=self._tell).fetch(url)

    def bundled(self, name: str) -> str | None:
        """The text of a built-in types file, or None if there is none of this name."""
        return _bundled(name)

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """Places of an import: replaced by rules, in the catalogue if it is a published plugin's address, then unchanged."""
        ruled = [new + target[len(old) :] for old, new in self._import_rules if target.startswith(old)]
        if ruled and not self._import_fallback:
            return ruled
        types = self._types() if "://" in target else None
        found = types.published(target) if types is not None else None
        return (*ruled, target) if found is None else (*ruled, found.path(minor, target.rpartition("/")[2]), target)

    def uploaded(self, blueprint: str) -> str | None:
        """The main file of a stored blueprint, or None if there is none."""
        main = self._find_uploaded(blueprint)
        if main is not None:
            self._uploads.add(Path(main).parent.resolve())
        return main

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:  # noqa: ARG002 - types are the same everywhere
        """The path of the definition file of an installed package, in the catalogue or in a folder of plugins; None if it is in none.

        Raises: PL-B092 when it is there, but not in this version, or if the version cannot be read.
        """
        packaged = self._find_packaged(name, version)
        if packaged is not None:
            self._uploads.add(Path(packaged).parent.resolve())
            return packaged
        types = self._types()
        found = types.fitting(name, version) if types is not None else None
        if found is None and self._more_folders:
            from phaseline.catalog.files.definition_files import find_in_folders

            found = find_in_folders(self._roots[1:], name, version)
        if found is None:
            others = ", ".join(each.version for each in types.named(name)) if types is not None else ""
            if others:
                message = f"the plugin '{name}' has no definition of version '{version}' here, only {others}"
                mend = "ask for one of these, or add it: phaseline plugins install --definition-only FILE"
                raise _refusal("PL-B092", message, mend, "")
            return None
        return found.path(minor)

    def _types(self) -> TypeFiles | None:
        """The catalogue, if there is one; the usual one is empty, and then it is not imported."""
        if not self._types_folder or not Path(self._types_folder).is_dir():
            return None
        from phaseline.catalog.files.type_catalog import TypeFiles

        return TypeFiles(self._types_folder)

    def exists(self, path: str) -> bool:
        """True if the blueprint's folder, or that of an uploaded one, has a script at this relative path.

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
        if "\0" in path or not _is_file(file):
            return False
        return any(file.resolve().is_relative_to(root) for root in (self._roots[0], *self._uploads))

    def _is_allowed(self, path: Path) -> bool:
        real = path.resolve()
        if self._types_folder and real.is_relative_to(Path(self._types_folder).resolve()):
            return True
        return any(real.is_relative_to(root) for root in (*self._roots, *self._mirrors, *self._uploads))


def _folder_of(new: str) -> Path:
    """The folder that a rule leads to: ``/srv/mirror/``, but also that of ``/srv/mirror/cloud-``."""
    return Path(new) if new.endswith("/") else Path(new).parent


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
