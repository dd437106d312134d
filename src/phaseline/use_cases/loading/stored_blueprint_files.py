"""Find stored blueprints by name, and write their files into folders for reading and running."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.store_location import has_store, part_of_tenant, place_of_copies, store_file
from phaseline.catalog.files import blueprint_trees
from phaseline.lang import did_you_mean
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.use_cases.lookup import package_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.use_cases.lookup.package_types import PackageTypes

ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")
"""Pattern of valid ids of stored blueprints."""
NAMED = re.compile(rf"(?:blueprint:)?({ID.pattern})(?:@([0-9]{{1,9}}))?")
"""Pattern of a blueprint's name: ``shop`` is the newest version, ``shop@2`` the second.

The prefix ``blueprint:`` marks a name as that of a stored blueprint, not of a file.
"""
PREFIX = "blueprint:"
FILE_ENDINGS = (".yaml", ".yml", ".json")


def read_name(text: str) -> tuple[str, int] | None:
    """Return (id, version) of the stored blueprint that a text names, or None if the text can only be a file.

    Version 0 means the newest version.

    >>> read_name("shop"), read_name("blueprint:shop@2"), read_name("shop.yaml"), read_name("shop/blueprint")
    (('shop', 0), ('shop', 2), None, None)
    """
    found = NAMED.fullmatch(text)
    if found is None or (text.endswith(FILE_ENDINGS) and not text.startswith(PREFIX)):
        return None
    return found[1], int(found[2] or 0)


def stored_named(ctx: RequestContext, text: str) -> StoredBlueprint | None:
    """Return the stored blueprint that a text names, or None if the text names a file.

    An existing file takes precedence, unless the text begins with ``blueprint:``. Raises: PL-C054 for an unknown
    stored blueprint.
    """
    named = read_name(text)
    if named is None or (not text.startswith(PREFIX) and Path(text).is_file()):
        return None
    found = ctx.store.stored_blueprints.find(*named) if has_store(ctx.app) else None
    if found is None:
        raise unknown(ctx, text)
    return found


def find_stored(ctx: RequestContext, text: str) -> StoredBlueprint:
    """Return the stored blueprint of this name. Raises: PL-C054."""
    named = read_name(text)
    found = ctx.store.stored_blueprints.find(*named) if named is not None else None
    if found is None:
        raise unknown(ctx, text)
    return found


def unknown(ctx: RequestContext, text: str) -> ProblemsError:
    """Return PL-C054 for a name that is neither a file nor a stored blueprint, or that is a folder."""
    if Path(text).is_dir():
        found = sorted(Path(text).glob("*.yaml"), key=lambda file: (file.name != "blueprint.yaml", file.name))
        mend = f"name the file in it: {found[0]}" if found else "name the blueprint's main file; there is none in it"
        return problem_error("PL-C054", f"'{text}' is a folder, not the file of a blueprint", mend, subject=text)
    ids = sorted({row.id for row in ctx.store.stored_blueprints.all()}) if has_store(ctx.app) else []
    hint = did_you_mean.did_you_mean(text.removeprefix(PREFIX).partition("@")[0], ids)
    mend = f"{hint} list the stored blueprints: phaseline blueprints list; or name a file".strip()
    return problem_error("PL-C054", f"there is no file and no stored blueprint '{text}'", mend, subject=text)


class Library:
    """Writes imported stored blueprints as files.

    ``used`` is {requested name: stored blueprint}. ``packages`` are the packages whose types were imported. A stored
    blueprint always gets the versions of its imports with which it was uploaded, even if newer versions exist.
    """

    def __init__(self, ctx: RequestContext, own: StoredBlueprint | None = None) -> None:
        """Start without imports. ``own`` is the stored blueprint that is being read, or None for a file."""
        self._ctx = ctx
        self._pinned: dict[str, StoredBlueprint] = {}
        self.used: dict[str, StoredBlueprint] = {}
        self.packages: PackageTypes | None = None
        if own is not None:
            self._pin(own)

    def uploaded(self, name: str) -> str | None:
        """Return the path of the main file that ``blueprint:NAME`` imports, or None if there is no such blueprint."""
        row = self.used.get(name) or self._find(name)
        if row is None:
            return None
        self.used[name] = row
        self._pin(row)
        return str(materialized(self._ctx, row) / row.main_file)

    def packaged(self, name: str, version: str) -> str | None:
        """Return the path of the file with the types of an installed package, or None if there is no such package."""
        if not has_store(self._ctx.app) or not self._ctx.store.has_packages:
            return None

        self.packages = self.packages or package_types.PackageTypes(self._ctx)
        return self.packages.find(name, version)

    def _find(self, name: str) -> StoredBlueprint | None:
        named = read_name(PREFIX + name)
        if named is None or not has_store(self._ctx.app):
            return None
        return self._pinned.get(name) or self._ctx.store.stored_blueprints.find(*named)

    def _pin(self, row: StoredBlueprint) -> None:
        for other in self._ctx.store.stored_blueprints.imports(row.number):
            self._pinned.setdefault(other.id, other)


def materialized(ctx: RequestContext, row: StoredBlueprint) -> Path:
    """Return the folder with the files of a stored blueprint, as they were uploaded; write them if necessary."""
    shelf = ctx.store.stored_blueprints
    folder = work_folder(ctx) / row.digest
    try:
        blueprint_trees.materialize_tree(folder, shelf.files(row.number), shelf.content)
    except OSError as error:
        message = f"the files of the stored blueprint '{row}' cannot be written to the cache: {error.strerror or error}"
        raise problem_error("PL-C057", message, "make room on the disk, and see that the folder is yours") from error
    return folder


def work_folder(ctx: RequestContext) -> Path:
    """Return the folder for files of the tenant's stored blueprints, which is beside the store.

    For a store in memory it is a folder that is removed with the store.
    """
    file = place_of_copies(ctx.settings.store_url)
    folder = Path(f"{file}.blueprints") if file is not None else ctx.app.passing_folder
    return part_of_tenant(folder, ctx.actor.tenant)


def restore_files(ctx: RequestContext, deployments: Iterable[int]) -> None:
    """Write the files of the stored blueprints that some deployments, given by their numbers, need."""
    shelf = ctx.store.stored_blueprints
    if not shelf.all():
        return
    needed = {row.number: row for number in set(deployments) for row in shelf.of_deployment(number).values()}
    for row in needed.values():
        materialized(ctx, row)


def is_of_store_in(ctx: RequestContext) -> Callable[[str], bool]:
    """Return a function that recognizes files of the store and of the master key: they are never part of a blueprint."""
    own = [str(file) for file in (store_file(ctx.settings.store_url),) if file is not None]
    own += [ctx.settings.secrets_key_file] if ctx.settings.secrets_key_file else []
    return lambda path: any(path.startswith(beginning) for beginning in own)
