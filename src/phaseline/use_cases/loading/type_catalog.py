"""Manage the offline catalogue of type definitions (decision 25).

From it, blueprints import the types of plugins that need not be installed. The definitions are in the store; a folder
beside it has a copy of them, which is written again whenever it differs (RF9).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app import store_location
from phaseline.catalog.files import definition_files, type_catalog
from phaseline.dsl.text import dsl_versions
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages import installed
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.rows import DEFAULT_TENANT

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.files.type_catalog import TypeFile, TypeFiles
    from phaseline.model.packages.installed import DefinitionShelf, StoredDefinition

SECTIONS = ("plugins", "node_types", "relationships", "data_types", "workflows")
"""Sections of a definition file whose names ``TypesView.defines`` lists."""


@frozen
class TypesView:
    """One version of one plugin's type definitions. ``defines`` is {section: names} of the newest definition file."""

    name: str
    version: str
    where: str
    files: Sequence[str]
    defines: Mapping[str, Sequence[str]]


def types_folder(ctx: RequestContext) -> str:
    """Return the folder with the copy of the tenant's catalogue, or "" if the store is in memory.

    A blueprint may import any file below it, so no tenant's folder is within that of another.
    """
    file, tenant = store_location.place_of_copies(ctx.settings.store_url), ctx.actor.tenant
    if file is None:
        return ""
    whole = f"{file.absolute()}.types"
    return whole if tenant == DEFAULT_TENANT else str(store_location.part_of_tenant(Path(f"{whole}-of"), tenant))


def refresh_types(ctx: RequestContext) -> None:
    """Make the folder of the catalogue equal to the store. Definitions of a folder without a mark are stored first.

    Earlier versions of the program kept definitions in the folder alone; they set no mark.
    Raises: PL-B120 if the folder cannot be written.
    """
    folder = types_folder(ctx)
    if not folder or not store_location.has_store(ctx.app):
        return
    shelf, is_there = ctx.store.definitions, Path(folder).is_dir()
    stored = shelf.all()
    if not stored and not is_there:
        return
    copies = type_catalog.TypeFiles(folder)
    if is_there and not os.access(folder, os.W_OK):
        return  # on read-only media
    if is_there and not copies.mark:
        stored = _stored_from(copies, shelf, stored)
    mark = _mark_of(stored)
    if copies.mark != mark:
        _copy(shelf, stored, copies)
        copies.set_mark(mark)


def _stored_from(
    copies: TypeFiles, shelf: DefinitionShelf, stored: Sequence[StoredDefinition]
) -> Sequence[StoredDefinition]:
    """Store the versions that only the folder has; return all stored ones."""
    known = {(row.name, row.version) for row in stored}
    for found in copies.all():
        if (found.name, found.version) not in known:
            contents = {file: Path(found.folder, file).read_bytes() for file in found.files}
            shelf.add(*_to_store(found.name, found.version, contents))
    return shelf.all()


def _to_store(name: str, version: str, contents: Mapping[str, bytes]) -> tuple[StoredDefinition, dict[str, bytes]]:
    """Return (row, {digest: content}) of a version with {file name: content}."""
    from hashlib import sha256

    digests = {file: sha256(content).hexdigest() for file, content in contents.items()}
    by_digest = {digests[file]: content for file, content in contents.items()}
    return installed.StoredDefinition(name, version, digests), by_digest


def _mark_of(stored: Sequence[StoredDefinition]) -> str:
    """Return a text that differs if anything in the stored definitions differs."""
    from hashlib import sha256

    rows = [(row.name, row.version, *sorted(row.files.items())) for row in stored]
    return sha256(repr(rows).encode()).hexdigest()


def _copy(shelf: DefinitionShelf, stored: Sequence[StoredDefinition], copies: TypeFiles) -> None:
    """Write the stored versions into the folder, and remove others from it."""
    wanted = {(row.name, row.version) for row in stored}
    for found in copies.all():
        if (found.name, found.version) not in wanted:
            copies.remove(found)
    for row in stored:
        files = {file: shelf.content(digest).decode("utf-8", "surrogateescape") for file, digest in row.files.items()}
        copies.add(type_catalog.Definition(row.name, row.version, files))


def install_definitions(
    ctx: RequestContext,
    path: str,
    *,
    name: str = "",
    version: str = "",
    tell: Callable[[list[TypesView]], None] = lambda _: None,
) -> list[TypesView]:
    """Add the definition files at a path to the catalogue: a file, a folder, a wheel, a wagon or another archive.

    The plugin is neither run nor installed. ``name`` and ``version`` of the plugin are needed for files without them.

    Raises: ProblemsError (PL-B120 … PL-B124, or problems of the files). If some definitions in a folder are invalid,
    the valid ones are installed and passed to ``tell``.
    """
    catalogue = _catalogue(ctx)
    sound, problems = definition_files.read_sound(Path(path), name=name, version=version)
    for found in sound:
        contents = {file: text.encode("utf-8", "surrogateescape") for file, text in found.files.items()}
        ctx.store.definitions.add(*_to_store(found.name, found.version, contents))
    refresh_types(ctx)
    copies = {(each.name, each.version): each for each in catalogue.all()}
    views = [_view(copies[found.name, found.version]) for found in sound]
    if problems:
        if views:
            tell(views)
        raise ProblemsError(problems)
    return views


def list_definitions(ctx: RequestContext) -> list[TypesView]:
    """Return all entries of the catalogue, by name, the newest version first. The definitions are not read."""
    return [TypesView(each.name, each.version, each.folder, each.files, {}) for each in _all(ctx)]


def find_definitions(ctx: RequestContext, name: str, version: str = "") -> list[TypesView]:
    """Return the versions of a plugin in the catalogue, the newest first, with their definitions.

    ``version``: only this one; "": all.
    """
    found = [each for each in _all(ctx) if type_catalog.plain_name(each.name) == type_catalog.plain_name(name)]
    return [_view(each) for each in found if version in {"", each.version}]


def remove_definitions(ctx: RequestContext, name: str, version: str = "") -> TypesView:
    """Remove a version of a plugin's definitions from the catalogue.

    Raises: PL-B127 if there is none, or if there are several and no version was given.
    """
    catalogue = _catalogue(ctx)
    named = catalogue.named(name)
    fitting = [each for each in named if version in {"", each.version}]
    if len(fitting) != 1:
        versions = ", ".join(each.version for each in named)
        what = f"'{name}'" + (f" of version {version}" if version else "")
        message = f"there are several versions of {what}" if fitting else f"there are no type definitions of {what}"
        mend = f"give the version: --version with one of {versions}" if named else "list them: phaseline plugins list"
        raise problem_error("PL-B127", message, mend)
    view = _view(fitting[0])
    ctx.store.definitions.remove(fitting[0].name, fitting[0].version)
    refresh_types(ctx)
    return view


def _catalogue(ctx: RequestContext) -> TypeFiles:
    folder = types_folder(ctx)
    if not folder:
        message = f"definitions cannot be kept: {ctx.settings.store_url} is in memory only"
        raise problem_error("PL-B127", message, "set store.url to a file or a database")
    refresh_types(ctx)
    return type_catalog.TypeFiles(folder)


def _all(ctx: RequestContext) -> list[TypeFile]:
    """Return all entries of the catalogue. If it is empty, as usual, no further module is imported."""
    refresh_types(ctx)
    folder = types_folder(ctx)
    if not folder or not Path(folder).is_dir():
        return []

    return type_catalog.TypeFiles(folder).all()


def _view(found: TypeFile) -> TypesView:
    try:
        defines = definition_files.names_in(Path(found.path(dsl_versions.LATEST)), SECTIONS)
    except ProblemsError:
        defines = {}  # changed since; an import reports all its problems
    return TypesView(found.name, found.version, found.folder, found.files, defines)
