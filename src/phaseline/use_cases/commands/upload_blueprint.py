"""Blueprints in the store: upload, list, show, delete and package them. Later runs use the uploaded files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog.files import archive_writer, archives, blueprint_trees
from phaseline.dsl import reader
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.use_cases.loading import blueprint_loading, plugin_presence
from phaseline.use_cases.loading.stored_blueprint_files import (
    ID,
    find_stored,
    is_of_store_in,
    materialized,
    read_name,
    stored_named,
    unknown,
    work_folder,
)

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.files.blueprint_trees import BlueprintTree
    from phaseline.model.blueprint.stored_blueprints import BlueprintShelf, BlueprintUser, StoredFile

MAIN_FILE = "blueprint.yaml"
"""Name of the main file if none is given."""
PACKED = (".zip", ".whl", ".wgn", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""Endings of file names that mark an archive."""
ATTEMPTS = 10
"""Number of attempts before an upload gives up because other processes keep changing the same blueprint."""
ENDINGS = (".zip", ".tar.gz", ".tgz")
"""Endings of names of archives that ``package`` can write."""


@frozen
class Uploaded:
    """The result of an upload. ``is_new`` False: the newest version has equal files, and nothing was stored."""

    blueprint: StoredBlueprint
    is_new: bool
    warnings: Sequence[Problem] = ()


@frozen
class Shelved:
    """A stored blueprint in a list: its newest version, the number of its versions, and what uses it.

    ``users``: the deployments, and the other stored blueprints that import it.
    """

    blueprint: StoredBlueprint
    versions: int
    users: Sequence[BlueprintUser]


@frozen
class Stored:
    """One version of a blueprint: its files, the versions that it imports, all versions of its id, and its users."""

    blueprint: StoredBlueprint
    files: Sequence[StoredFile]
    imports: Sequence[str]
    versions: Sequence[StoredBlueprint]
    users: Sequence[BlueprintUser]


@frozen
class Packaged:
    """The archive of a blueprint that ``package`` has written."""

    file: str
    files: int
    size_bytes: int


def upload(
    ctx: RequestContext,
    path: str,
    id: str | None = None,
    *,
    main_file: str | None = None,
    plugin_folders: Sequence[str] = (),
) -> Uploaded:
    """Store all files of a blueprint's folder as the next version of an id.

    ``path``: the main file, its folder, or an archive of the folder. ``id`` None: use the name of the folder or
    archive. ``main_file``: name of the main file in a folder or archive, by default ``blueprint.yaml``. Uploading equal
    files again changes nothing. Raises: ``ProblemsError`` with all problems of the blueprint, PL-C056, PL-C057, PL-B120
    to PL-B122.
    """
    named = id_for(path, id)
    with examined(ctx, path, named, main_file=main_file, plugin_folders=plugin_folders) as found:
        row, is_new = add_blueprint(ctx.store.stored_blueprints, found.blueprint, found.tree, found.imports)
    return Uploaded(row, is_new=is_new, warnings=found.warnings)


def _nothing(_path: str) -> bool:
    return False


@frozen
class Examined:
    """A blueprint that can be stored: its row without number and version, its files, the versions that it imports."""

    blueprint: StoredBlueprint
    tree: BlueprintTree
    imports: Sequence[int]
    warnings: Sequence[Problem]


@contextmanager
def examined(
    ctx: RequestContext,
    path: str,
    named: str,
    *,
    main_file: str | None = None,
    plugin_folders: Sequence[str] = (),
) -> Iterator[Examined]:
    """Read and check a blueprint with all its files, which are there as long as the context is open.

    Takes and raises what ``upload`` does; ``named``: the id.
    """
    with _main_file(path, main_file) as main:
        opened = blueprint_loading.open_blueprint(ctx, main, plugin_folders)
        blueprint = reader.read_blueprint(opened.file, opened.files)
        code = opened.code_of(blueprint)
        missing = [
            altered(problem, severity="warning")
            for problem in plugin_presence.missing_modules(ctx.catalog, blueprint, code, opened)
        ]
        is_written_here = Path(main).is_relative_to(work_folder(ctx))  # files of a stored blueprint, beside the store
        tree = blueprint_trees.take_up(main, leave_out=_nothing if is_written_here else is_of_store_in(ctx))
        new = StoredBlueprint(
            number=0,
            id=named,
            version=0,
            main_file=tree.main_file,
            digest=tree.digest,
            description=blueprint.description,
            language=blueprint.version,
            file_count=len(tree.files),
            size_bytes=tree.size_bytes,
            created_at=ctx.clock.now(),
            created_by=ctx.actor.name,
        )
        imports = [used.number for used in opened.library.used.values()]
        yield Examined(new, tree, imports, (*blueprint.warnings, *missing))


def add_blueprint(
    shelf: BlueprintShelf, new: StoredBlueprint, tree: BlueprintTree, imports: Sequence[int]
) -> tuple[StoredBlueprint, bool]:
    """Store a blueprint; return (the stored version, whether it is a new one).

    Other processes may upload and delete meanwhile: if they delete needed file contents, these are stored again.
    Raises: PL-C054 if an imported blueprint was deleted.
    """
    by_digest = {file.digest: file for file in tree.files}
    wanted = list(shelf.lacking(list(by_digest)))
    for _ in range(ATTEMPTS):
        contents = {digest: tree.content(by_digest[digest]) for digest in wanted}
        try:
            row = shelf.add(new, tree.files, contents, imports)
        except LookupError:
            wanted = list(by_digest)
            continue
        if row is not None:
            return row, True
        newest = shelf.find(new.id)
        if newest is not None:
            return newest, False
    message = f"other commands upload and delete '{new.id}' all the time"
    raise ProblemsError(
        [Problem("PL-C057", message, "repeat this command when they have ended", Place(subject=new.id))]
    )


def list_blueprints(ctx: RequestContext) -> Sequence[Shelved]:
    """Return all stored blueprints by id."""
    shelf = ctx.store.stored_blueprints
    versions: dict[str, list[StoredBlueprint]] = {}
    for row in shelf.all():
        versions.setdefault(row.id, []).append(row)
    users = shelf.users_by_id()
    return [Shelved(rows[-1], len(rows), users.get(id, ())) for id, rows in versions.items()]


def show_blueprint(ctx: RequestContext, name: str) -> Stored:
    """Return one version of a stored blueprint: for ``ID`` the newest, or ``ID@VERSION``. Raises: PL-C054."""
    shelf = ctx.store.stored_blueprints
    row = find_stored(ctx, name)
    return Stored(
        row,
        shelf.files(row.number),
        [str(other) for other in shelf.imports(row.number)],
        shelf.all(row.id),
        shelf.users([row.number]),
    )


def delete_blueprint(ctx: RequestContext, name: str) -> Sequence[StoredBlueprint]:
    """Delete a stored blueprint with all its versions, or only ``ID@VERSION``; return the deleted versions.

    If one of them is in use, nothing is deleted. Raises: PL-C054, PL-C055 for a blueprint in use.
    """
    shelf = ctx.store.stored_blueprints
    named = read_name(name)
    rows = [row for row in shelf.all(named[0]) if named[1] in {0, row.version}] if named is not None else []
    if not rows:
        raise unknown(ctx, name)
    users = shelf.delete([row.number for row in rows])
    if users:
        raise ProblemsError(_needed(name, user) for user in users)
    _forget_laid_out(ctx, rows)
    return rows


def _needed(name: str, user: BlueprintUser) -> Problem:
    if user.kind == "deployment":
        what, mend = "the deployment", f"delete that first: phaseline deployments delete {user.name}"
    else:
        what, mend = "the stored blueprint", f"delete that first: phaseline blueprints delete {user.name}"
    return Problem("PL-C055", f"'{name}' is needed by {what} '{user.name}'", mend, Place(subject=name))


def _forget_laid_out(ctx: RequestContext, rows: Sequence[StoredBlueprint]) -> None:
    import shutil

    kept = {row.digest for row in ctx.store.stored_blueprints.all()}
    for row in rows:
        if row.digest not in kept:
            shutil.rmtree(work_folder(ctx) / row.digest, ignore_errors=True)


def package(ctx: RequestContext, name: str, output: str | None = None) -> Packaged:
    """Write all files of a blueprint into an archive. ``name``: a stored blueprint, or a main file in its folder.

    ``output`` None: the id or the folder's name with ``.zip``. Equal blueprints make equal archives. Raises: PL-C057 if
    the archive cannot be written, or exists already; the errors of ``upload``.
    """
    stored = stored_named(ctx, name)
    main = name if stored is None else str(materialized(ctx, stored) / stored.main_file)
    if not Path(main).is_file():
        raise problem_error(
            "PL-C054", f"there is no file and no stored blueprint '{name}'", "name the blueprint's main file"
        )
    top = stored.id if stored is not None else blueprint_loading.deployment_name(name, None)
    target = output or f"{top}.zip"
    if not target.endswith(ENDINGS):
        raise problem_error(
            "PL-C057",
            f"the name '{target}' does not end like that of an archive",
            f"let it end with {', '.join(ENDINGS)}",
        )
    own, is_of_store = Path(target).absolute(), is_of_store_in(ctx)
    tree = blueprint_trees.take_up(
        main, leave_out=lambda path: stored is None and (is_of_store(path) or Path(path) == own)
    )
    try:
        archive_writer.pack(tree, top, target)
    except FileExistsError as error:
        raise problem_error("PL-C057", f"'{target}' is there already", "remove it, or name another file") from error
    except OSError as error:
        message = f"'{target}' cannot be written: {error.strerror or error}"
        raise problem_error("PL-C057", message, "name another file with --output") from error
    return Packaged(target, len(tree.files), Path(target).stat().st_size)


def id_for(path: str, given: str | None) -> str:
    """Return the given id, or make one from the name of the folder or archive. Raises: PL-C056.

    >>> id_for("shop/blueprint.yaml", None), id_for("down/shop-1.2.tar.gz", None), id_for("x.yaml", "shop")
    ('shop', 'shop-1.2', 'shop')
    """
    mend = "begin with a letter; then letters, digits, '_', '.' and '-', at most 128 in all"
    if given is not None:
        if not ID.fullmatch(given) or given.endswith((".yaml", ".yml", ".json")):
            raise problem_error("PL-C056", f"'{given}' cannot be the id of a stored blueprint", mend)
        return given
    ending = next((ending for ending in sorted(PACKED, key=len, reverse=True) if path.lower().endswith(ending)), "")
    whole = Path(path).absolute()
    text = whole.name[: -len(ending)] if ending else (whole.name if whole.is_dir() else whole.parent.name)
    name = re.sub(r"^[^A-Za-z]+", "", re.sub(r"[^A-Za-z0-9_.-]+", "-", text))[:128].rstrip("-.")
    if not name:
        raise problem_error(
            "PL-C056", f"'{text}' cannot be made the id of a stored blueprint", "give one after the path"
        )
    return name


@contextmanager
def _main_file(path: str, name: str | None) -> Iterator[str]:
    """Open a context with the path of the main file.

    The file is ``path`` itself, a file in the folder ``path``, or a file in the archive ``path``, which is unpacked as
    long as the context is open.
    """
    if Path(path).is_dir():
        yield str(_in_folder(Path(path), name or MAIN_FILE))
    elif path.lower().endswith(PACKED):
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="phaseline-") as passing:
            folder = Path(passing, "unpacked")
            folder.mkdir()
            archives.unpack(
                Path(path),
                folder,
                limits=archives.ArchiveLimits(members=blueprint_trees.MAX_FILES, total_bytes=blueprint_trees.MAX_BYTES),
            )
            inside = [each for each in folder.iterdir() if each.name != "__MACOSX"]
            if len(inside) == 1 and inside[0].is_dir():
                folder = inside[0]
            yield str(_in_folder(folder, name or MAIN_FILE))
    else:
        yield path


def _in_folder(folder: Path, name: str) -> Path:
    file = folder / name
    if Path(name).name != name or not file.is_file():
        there = (
            sorted(each.name for each in folder.iterdir() if each.suffix in {".yaml", ".yml"})
            if folder.is_dir()
            else []
        )
        mend = (
            f"name the main file with --main; there are {', '.join(there[:10])}" if there else "look at the files in it"
        )
        raise problem_error("PL-C057", f"there is no blueprint '{name}' in it", mend, subject=str(folder.name))
    return file
