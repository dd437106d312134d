"""Load a blueprint file with inputs, as the deployment that it would become. Nothing is stored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from phaseline.app import function_discovery
from phaseline.catalog.files import blueprint_files
from phaseline.dsl import reader
from phaseline.dsl.deployment import evaluate_blueprint
from phaseline.dsl.deployment import inputs as deployment_inputs
from phaseline.dsl.functions import third_party
from phaseline.dsl.text import file_source
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.plan.topology import expansion
from phaseline.use_cases.loading.deployment_rows import without_hidden_defaults, without_values
from phaseline.use_cases.loading.plugin_presence import NO_FUNCTION, NOT_HERE, missing_modules
from phaseline.use_cases.loading.resource_nodes import on_their_paths, refused_plugins
from phaseline.use_cases.loading.stored_blueprint_files import PREFIX, Library, materialized, read_name, stored_named
from phaseline.use_cases.loading.type_catalog import refresh_types, types_folder
from phaseline.use_cases.lookup import input_suggestions

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.files.blueprint_files import BlueprintFiles
    from phaseline.dsl.text.file_source import RecordingSource
    from phaseline.dsl.type_system.constraints import Lookup
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.packages.installed import PackageUse

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")
"""Pattern of valid deployment names."""
NO_INPUTS: Mapping[str, Value] = MappingProxyType({})
MOST_REMEMBERED = 16
"""Number of blueprints that a process keeps in memory: the ones read last."""
MOST_TEXT = 1_000_000
"""Limit for caching: the number of characters in all sources of one blueprint, or in its inputs."""
MOST_INSTANCES = 10_000
"""Largest number of instances in a topology that is cached."""


class Reading:
    """A cached valid blueprint, with the sources from which it was read and the instances that were last made from it."""

    def __init__(self, witness: RecordingSource, blueprint: Blueprint) -> None:
        """``witness`` has recorded the files that were read, to detect changes in them. No instances are cached yet."""
        self.witness = witness
        self.blueprint = blueprint
        self._made: tuple[str, Topology] | None = None

    def manner(self, blueprint: Blueprint, inputs: Mapping[str, Value], *, runtime_only: bool, yes_many: bool) -> str:
        """Return the cache key of instances made with these inputs and options, or "" if they must not be cached.

        They must not be cached if plugins or the store have changed the blueprint, if inputs are secrets, or if the
        key would be too long.
        """
        if blueprint is not self.blueprint or hidden_inputs(blueprint):
            return ""
        told = repr((inputs, runtime_only, yes_many))  # unlike the values themselves, 1 and true differ
        return told if len(told) <= MOST_TEXT else ""

    def made(self, manner: str) -> Topology | None:
        """Return the cached instances for a key, or None. Give them new ids, because a deployment may already use their ids."""
        return self._made[1] if self._made is not None and self._made[0] == manner else None

    def make(self, manner: str, topology: Topology) -> None:
        """Cache the instances under the key ``manner``, unless it is "" or there are too many instances."""
        if manner and len(topology) <= MOST_INSTANCES:
            self._made = manner, topology


class BlueprintCache:
    """Caches the valid blueprints that this process has read, and returns them again while their sources are unchanged.

    To check this, it reads all files again and compares the texts (``dsl.text.file_source.RecordingSource``).
    """

    def __init__(self) -> None:
        """Create an empty cache."""
        self._kept: dict[tuple[object, ...], Reading] = {}

    def read(self, reopened: Callable[[], Opened], *, open_types: bool) -> tuple[Opened, Reading]:
        """Return (the files of a blueprint, the blueprint read from them or from the cache).

        ``reopened`` returns the files, which are not yet read. Raises: ``ProblemsError`` with all problems of the
        blueprint.
        """
        opened = reopened()
        key = (opened.file, open_types, third_party.ANNOUNCED.known)
        kept = self._kept.pop(key, None)
        if kept is not None:
            if kept.witness.agrees(opened.files):
                self._kept[key] = kept  # moved to the end, as the last one used
                return opened, kept
            opened = reopened()
        witness = file_source.RecordingSource(opened.files)
        reading = Reading(witness, reader.read_blueprint(opened.file, witness, open_types=open_types))
        if not (witness.raised or reading.blueprint.announced) and witness.size <= MOST_TEXT:
            self._kept[key] = reading
            for oldest in list(self._kept)[:-MOST_REMEMBERED]:  # as a list: another thread may read, too
                self._kept.pop(oldest, None)
        return opened, reading


@frozen
class LoadedBlueprint:
    """A blueprint with its inputs, its instances, and the folders with its code. Nothing is stored yet.

    ``uses`` is {namespace: number} of imported stored blueprints. ``packages`` are the packages whose types the
    blueprint imports.
    """

    blueprint: Blueprint
    inputs: Mapping[str, Value]
    topology: Topology
    code: CodeLocation
    warnings: tuple[Problem, ...]
    uses: Mapping[str, int]
    packages: Sequence[PackageUse] = ()


@frozen
class Opened:
    """The files of a blueprint: its main file, the folders with its code, and the source of files that it may import.

    ``stored`` is the stored blueprint, or None if the files are the user's own.
    """

    file: str
    code: CodeLocation
    files: BlueprintFiles
    library: Library
    stored: StoredBlueprint | None = None

    def code_of(self, blueprint: Blueprint) -> CodeLocation:
        """Return the folders with the code, including imported stored blueprints; the longest namespace comes first."""
        mains = {namespace: self.library.uploaded(id) for namespace, id in blueprint.uploaded.items()}
        found = [(namespace, str(Path(main).parent)) for namespace, main in mains.items() if main is not None]
        imported = tuple(sorted(found, key=lambda each: (-len(each[0]), each[0])))
        packages = self.library.packages
        return altered(self.code, imported=imported, packages=() if packages is None else packages.folders)

    @property
    def packages(self) -> Sequence[PackageUse]:
        """Return the packages whose types the blueprint imports."""
        return () if self.library.packages is None else self.library.packages.uses

    def uses(self, blueprint: Blueprint) -> Mapping[str, int]:
        """Return {namespace: number} of the stored blueprints that the blueprint needs at run time."""
        own = {"": self.stored.number} if self.stored is not None else {}
        used = self.library.used
        return own | {namespace: used[id].number for namespace, id in blueprint.uploaded.items() if id in used}


@undisturbed()
def read(
    ctx: RequestContext, file: str, plugin_folders: Sequence[str] = (), *, open_types: bool = False
) -> tuple[Blueprint, CodeLocation]:
    """Return the checked blueprint and the folders with its code. Raises ``ProblemsError`` with all its problems.

    ``file`` is a file, or the name of a stored blueprint. With ``open_types``, types from missing definition files
    become open types.
    """
    opened, reading = _read(ctx, file, plugin_folders, open_types=open_types)
    blueprint = on_their_paths(ctx, reading.blueprint)
    return blueprint, opened.code_of(blueprint)


def read_opened(
    ctx: RequestContext, file: str, plugin_folders: Sequence[str] = (), *, open_types: bool = False
) -> tuple[Blueprint, CodeLocation, Opened]:
    """Return (the checked blueprint, the folders with its code, its files). Takes and raises what ``read`` does."""
    opened, reading = _read(ctx, file, plugin_folders, open_types=open_types)
    blueprint = on_their_paths(ctx, reading.blueprint)
    return blueprint, opened.code_of(blueprint), opened


def open_blueprint(ctx: RequestContext, file: str, plugin_folders: Sequence[str] = ()) -> Opened:
    """Open a blueprint file, or a stored blueprint by its name. Raises: PL-O003, PL-C054."""
    function_discovery.offer_functions(ctx.app.before_code)
    raise_if_plugins_missing(plugin_folders)
    stored = stored_named(ctx, file)
    main = file if stored is None else str(materialized(ctx, stored) / stored.main_file)
    code = ctx.app.code_places(main, tuple(plugin_folders))
    library = Library(ctx, stored)
    files = blueprint_files.BlueprintFiles(
        main,
        code.plugin_folders,
        allowed_imports=ctx.settings.allowed_imports,
        types_folder=types_folder(ctx),
        refresh_types=lambda: refresh_types(ctx),
        find_uploaded=library.uploaded,
        find_packaged=library.packaged,
        import_rules=ctx.settings.import_rules,
        import_fallback=ctx.settings.import_fallback,
        tell=ctx.notice,
    )
    return Opened(main, code, files, library, stored)


def _read(ctx: RequestContext, file: str, plugin_folders: Sequence[str], *, open_types: bool) -> tuple[Opened, Reading]:
    readings = ctx.app.cache("readings", BlueprintCache)
    return readings.read(lambda: open_blueprint(ctx, file, plugin_folders), open_types=open_types)


def raise_if_plugins_missing(plugin_folders: Sequence[str]) -> None:
    """Raise PL-O003 for each missing folder of ``--plugins``.

    Without this check, missing plugins would be noticed only when they are called.
    """
    mend = "correct the folder that --plugins names"
    missing = [folder for folder in plugin_folders if not Path(folder).is_dir()]
    if missing:
        raise ProblemsError(
            Problem("PL-O003", f"there is no folder '{folder}'", mend, Place(folder)) for folder in missing
        )


@undisturbed()
def load(
    ctx: RequestContext,
    file: str,
    *,
    inputs: Mapping[str, Value],
    plugin_folders: Sequence[str] = (),
    yes_many: bool = False,
    open_types: bool = False,
    runtime_only: bool = False,
    needs_code: bool = True,
    former: Mapping[str, Value] = NO_INPUTS,
    auto_correct: bool = False,
) -> LoadedBlueprint:
    """Return the blueprint with its instances and inputs, evaluated as far as possible before anything runs.

    Ids are random (N5). With ``yes_many``, more than a million relationship calls are allowed. With ``open_types``,
    types from missing definition files become open types. With ``runtime_only``, functions that do not determine
    instances are evaluated only at run time. With ``needs_code`` False, missing plugins cause warnings only, because a
    plan calls nothing. ``former`` has values of declared inputs that are not given now. With ``auto_correct``, texts
    become numbers or truth values if the input's type requires it.

    Raises ``ProblemsError`` with all problems.
    """
    found = _read(ctx, file, plugin_folders, open_types=open_types)
    return _loaded(
        ctx, found, inputs, former, yes_many=yes_many, open_types=open_types, runtime_only=runtime_only,
        needs_code=needs_code, auto_correct=auto_correct,
    )  # fmt: skip


def loader(
    ctx: RequestContext,
    file: str,
    plugin_folders: Sequence[str] = (),
    *,
    yes_many: bool = False,
    runtime_only: bool = False,
    auto_correct: bool = False,
) -> Callable[[Mapping[str, Value]], LoadedBlueprint]:
    """Return a function that loads the blueprint with the inputs given, as ``load`` does; its files are read only once.

    It raises what ``load`` raises for the inputs. Raises: ``ProblemsError`` with all problems of the blueprint itself.
    """
    found = _read(ctx, file, plugin_folders, open_types=False)
    with_inputs = undisturbed()(_loaded)
    return lambda inputs: with_inputs(
        ctx, found, inputs, NO_INPUTS, yes_many=yes_many, runtime_only=runtime_only, auto_correct=auto_correct
    )


def _loaded(
    ctx: RequestContext,
    found: tuple[Opened, Reading],
    inputs: Mapping[str, Value],
    former: Mapping[str, Value],
    *,
    yes_many: bool,
    runtime_only: bool,
    auto_correct: bool,
    open_types: bool = False,
    needs_code: bool = True,
) -> LoadedBlueprint:
    opened, reading = found
    blueprint = on_their_paths(ctx, reading.blueprint)
    if opened.stored is not None:
        blueprint = altered(blueprint, id=opened.stored.id)
    code = opened.code_of(blueprint)
    try:
        given = {**{name: value for name, value in former.items() if name in blueprint.inputs}, **inputs}
        whole = deployment_inputs.complete_inputs(
            blueprint, given, auto_correct=auto_correct, lookup=_lookup(ctx, blueprint)
        )
        manner = reading.manner(blueprint, whole, runtime_only=runtime_only, yes_many=yes_many)
        made = reading.made(manner)
        if made is not None:
            evaluated = made.blueprint
        else:
            stored = without_hidden_defaults(blueprint)
            evaluated = evaluate_blueprint.with_inputs(stored, whole, opened.files, runtime_only=runtime_only)
    except ProblemsError as error:
        raise without_values(error, blueprint, {**former, **inputs}) from None
    missing = missing_modules(ctx.catalog, evaluated, code, opened, open_types=open_types)
    refused = missing if needs_code else [problem for problem in missing if problem.code not in {NOT_HERE, NO_FUNCTION}]
    if refused:
        raise ProblemsError(refused)
    suffixes = int.from_bytes(os.urandom(8)) >> 1
    if made is not None:
        topology = expansion.named_anew(made, suffixes=suffixes)
    else:
        topology = expansion.expand(evaluated, suffixes=suffixes, yes_many=yes_many)
        reading.make(manner, topology)
    warned = (altered(problem, severity="warning") for problem in missing)
    warnings = (*evaluated.warnings, *warned, *refused_plugins(ctx, evaluated))
    return LoadedBlueprint(evaluated, whole, topology, code, warnings, opened.uses(blueprint), opened.packages)


def deployment_name(file: str, given: str | None) -> str:
    """Return the given name, or else the blueprint's folder name with ``-`` in place of invalid characters.

    The default name for a stored blueprint is its id.

    Raises: PL-C021 for a name that is not allowed.
    """
    named = read_name(file)
    if given is None and named is not None and (file.startswith(PREFIX) or not Path(file).is_file()):
        return named[0]
    if given is None:
        folder = Path(file).absolute().parent.name
        name = re.sub(r"^[^A-Za-z]+", "", re.sub(r"[^A-Za-z0-9_.-]+", "-", folder))[:128].rstrip("-.")
        if name:
            return name
        raise problem_error(
            "PL-C021", f"the folder's name '{folder}' cannot be the name of a deployment", "give one with -d NAME"
        )
    if not NAME.fullmatch(given):
        mend = "begin with a letter; then letters, digits, '_', '.' and '-', at most 128 in all"
        raise problem_error("PL-C021", f"'{given}' cannot be the name of a deployment", mend)
    return given


def _lookup(ctx: RequestContext, blueprint: Blueprint) -> Lookup | None:
    """Return a lookup in the store, for inputs that name stored objects, or None if the blueprint has no inputs."""
    if not blueprint.inputs:
        return None

    return input_suggestions.KnownThings(lambda: ctx.store)
