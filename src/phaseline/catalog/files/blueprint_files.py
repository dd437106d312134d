"""Gives the reader of blueprints its files: only files below the blueprint's folder and further allowed folders."""

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
"""Folder of the types files that come with Phaseline."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Largest size of a blueprint file in bytes; a blueprint with 100,000 node templates has about half of it."""


class BlueprintFiles:
    """The ``FileSource`` for files on disk. Links are resolved before it is decided whether a file is allowed (B6)."""

    def __init__(
        self,
        main: str,
        more_folders: Sequence[str] = (),
        *,
        allowed_imports: Sequence[str] = (),
        types_folder: str = "",
        refresh_types: Callable[[], None] = lambda: None,
        find_uploaded: Callable[[str], str | None] = lambda _: None,
        find_packaged: Callable[[str, str], str | None] = lambda _name, _version: None,
        import_rules: Sequence[tuple[str, str]] = (),
        import_fallback: bool = True,
        limit_bytes: int = MAX_FILE_BYTES,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Read blueprints from ``main``, the main file; imports must stay in its folder or in ``more_folders``.

        ``allowed_imports``: beginnings of web addresses from which files may be fetched. ``types_folder``: the
        catalogue of plugins' definition files, or empty. ``refresh_types``: makes that folder equal to the store; called
        before the folder is first used. ``find_uploaded``: returns the main file of a stored
        blueprint. ``find_packaged``: returns the types file of an installed package, given its name and the wanted
        version. The folders of files found by these two functions may be read, too. ``import_rules``: (prefix of an
        import, replacement); a replacement that is a local folder may be read, too. ``import_fallback``: an import to
        which a rule applies is also tried unchanged. ``tell`` is called with a message when a web server makes us wait.
        """
        self._import_rules = import_rules
        self._import_fallback = import_fallback
        self._find_uploaded = find_uploaded
        self._find_packaged = find_packaged
        self._types_folder = types_folder
        self._refresh_types: Callable[[], None] | None = refresh_types
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
        """The folders that imports must stay in, with links resolved.

        They are resolved on first use, because most blueprints import only the built-in types.
        """
        return [self._folder.resolve(), *(Path(root).resolve() for root in self._more_folders)]

    @cached_property
    def _mirrors(self) -> Sequence[Path]:
        return [_folder_of(new).resolve() for _, new in self._import_rules if "://" not in new]

    def find(self, name: str, importer: str) -> str | None:
        """Return the path of the file that an import names, or None if there is none.

        Raises: PL-B021 if it is not allowed.

        The name is tried as given, beside the importing file, beside the main file, and in the further folders.
        """
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
        """Return the text of a file, or None if the file does not exist."""
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
        """Return the text of a file on the web, or None if the server does not have it."""
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
        """Return the text of a built-in types file, or None if there is none of this name."""
        return _bundled(name)

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """Return the names to try for an import: first its replacements by rules, then a file of the catalogue of
        types, then ``target`` itself.

        The catalogue is searched only if ``target`` is the public address of a plugin's definition file. ``minor`` is
        the minor version of the main blueprint, by which one of the plugin's files is selected. If a rule applies and
        no fallback is allowed, only its replacements are returned.
        """
        ruled = [new + target[len(old) :] for old, new in self._import_rules if target.startswith(old)]
        if ruled and not self._import_fallback:
            return ruled
        types = self._types() if "://" in target else None
        found = types.published(target) if types is not None else None
        return (*ruled, target) if found is None else (*ruled, found.path(minor, target.rpartition("/")[2]), target)

    def uploaded(self, blueprint: str) -> str | None:
        """Return the main file of a stored blueprint, or None if no such blueprint is stored."""
        main = self._find_uploaded(blueprint)
        if main is not None:
            self._uploads.add(Path(main).parent.resolve())
        return main

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:  # noqa: ARG002 - types are the same everywhere
        """Return the path of a plugin's definition file, or None if the plugin is not found.

        It is searched in installed packages, in the catalogue of types, and in plugin folders.
        Raises: PL-B092 if the catalogue has only other versions, or if ``version`` cannot be read.
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
        """Return the catalogue of types, or None if its folder does not exist; then its module is not imported."""
        if self._refresh_types is not None:
            self._refresh_types()
            self._refresh_types = None
        if not self._types_folder or not Path(self._types_folder).is_dir():
            return None
        from phaseline.catalog.files.type_catalog import TypeFiles

        return TypeFiles(self._types_folder)

    def exists(self, path: str) -> bool:
        """Return True if the blueprint's folder, or the folder of an imported stored blueprint, has a file at this
        relative path.

        The names in the folder are read once and compared first: a blueprint may ask for ten thousand texts that are
        names of functions, not files.
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
    """Return the folder that contains the files to which the replacement text ``new`` of an import rule leads.

    For ``/srv/mirror/`` and for ``/srv/mirror/cloud-``, which is the beginning of file names, it is ``/srv/mirror``.
    """
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
