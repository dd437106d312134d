"""Manage the offline catalogue of type definitions (decision 25).

From it, blueprints import the types of plugins that need not be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app import store_location
from phaseline.catalog.files import definition_files, type_catalog
from phaseline.dsl.text import dsl_versions
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError, problem_error

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.settings import Settings
    from phaseline.catalog.files.type_catalog import TypeFile, TypeFiles

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


def types_folder(settings: Settings) -> str:
    """Return the folder of the catalogue, which is beside the store, or "" if the store is in memory."""
    file = store_location.place_of_copies(settings.store_url)
    return f"{file.absolute()}.types" if file is not None else ""


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
    views = [_view(catalogue.add(found)) for found in sound]
    if problems:
        if views:
            tell(views)
        raise ProblemsError(problems)
    return views


def list_definitions(ctx: RequestContext) -> list[TypesView]:
    """Return all entries of the catalogue, by name, the newest version first. The definitions are not read."""
    folder = types_folder(ctx.settings)
    return [TypesView(each.name, each.version, each.folder, each.files, {}) for each in _all(folder)]


def find_definitions(ctx: RequestContext, name: str, version: str = "") -> list[TypesView]:
    """Return the versions of a plugin in the catalogue, the newest first, with their definitions.

    ``version``: only this one; "": all.
    """
    found = [
        each
        for each in _all(types_folder(ctx.settings))
        if type_catalog.plain_name(each.name) == type_catalog.plain_name(name)
    ]
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
    catalogue.remove(fitting[0])
    return view


def _catalogue(ctx: RequestContext) -> TypeFiles:
    folder = types_folder(ctx.settings)
    if not folder:
        message = f"definitions cannot be kept: {ctx.settings.store_url} is in memory only"
        raise problem_error("PL-B127", message, "set store.url to a file; the type catalogue is kept beside that file")
    return type_catalog.TypeFiles(folder)


def _all(folder: str) -> list[TypeFile]:
    """Return all entries of the catalogue. If it is empty, as usual, no further module is imported."""
    if not folder or not Path(folder).is_dir():
        return []

    return type_catalog.TypeFiles(folder).all()


def _view(found: TypeFile) -> TypesView:
    try:
        defines = definition_files.names_in(Path(found.path(dsl_versions.LATEST)), SECTIONS)
    except ProblemsError:
        defines = {}  # changed since; an import reports all its problems
    return TypesView(found.name, found.version, found.folder, found.files, defines)
