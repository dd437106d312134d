"""Carry the files of a blueprint in the document of its deployment, for a store that lacks the blueprint.

``taken`` reads them from the stored blueprint or the folder when a deployment is exported; ``brought`` writes them
beside the adopting store, where calls look for the code of stored blueprints.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from phaseline.catalog.files.blueprint_trees import BlueprintTree, digest_of, materialize_tree, take_up
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.stored_blueprints import StoredBlueprint, StoredFile
from phaseline.model.deployment.sealed_values import CANNOT_OPEN
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.plan.topology.stack_document import NATIVE, FilesTaken
from phaseline.use_cases.loading.stored_blueprint_files import ID, is_of_store_in, work_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.code_location import CodeLocation

MOST_BYTES = 16 * 1024**2
"""Largest number of bytes of a blueprint's files together. If there are more, a document has a remark and no files."""
MOST_FILES = 2_000
BINARY = "base64"
"""Key in a document for a file's content that is not text."""
A_DOCUMENT = b'"stack_user_project_id"'
"""Text by which documents of deployments are recognized in a blueprint's folder.

Such documents are not exported as files, because otherwise each export would contain all former exports.
"""


@frozen
class Brought:
    """Files of a document, written into ``tree.folder``. They become the stored blueprint ``id``."""

    id: str
    tree: BlueprintTree

    @property
    def main(self) -> str:
        """Return the path of the blueprint's main file."""
        return str(Path(self.tree.folder, self.tree.main_file))


def taken(ctx: RequestContext, deployment: int, code: CodeLocation, file: str) -> FilesTaken:
    """Return the files of a deployment's blueprint for a document.

    ``left_out`` in the result is the reason why they cannot be included.
    """
    shelf = ctx.store.stored_blueprints
    stored = shelf.of_deployment(deployment).get("")
    is_of_store = is_of_store_in(ctx)
    try:
        if stored is None:
            main = Path(code.blueprint_folder, Path(file).name)
            if not main.is_file():
                return FilesTaken(left_out=f"its blueprint is not there any more: {main}")
            tree = take_up(
                str(main),
                leave_out=lambda path: is_of_store(path) or _is_document(path),
                max_files=MOST_FILES,
                max_bytes=MOST_BYTES,
            )
            contents = {each.path: tree.content(each) for each in tree.files}
            return _written(ctx, deployment, tree.main_file, tree.files, contents)
        if stored.size_bytes > MOST_BYTES or stored.file_count > MOST_FILES:
            return FilesTaken(left_out=f"{stored} has more than {MOST_BYTES:,} bytes or {MOST_FILES:,} files")
        files = shelf.files(stored.number)
        contents = {each.path: shelf.content(each.digest) for each in files}
        return _written(ctx, deployment, stored.main_file, files, contents)
    except ProblemsError as error:
        return FilesTaken(left_out=error.problems[0].message)
    except (OSError, LookupError) as error:
        return FilesTaken(left_out=str(error))


def _written(
    ctx: RequestContext, deployment: int, main: str, files: Sequence[StoredFile], contents: Mapping[str, bytes]
) -> FilesTaken:
    """Return the files in the form of a document. Files that contain a secret are encrypted.

    An example is a blueprint with a secret as the default of a hidden input.
    """
    vault, texts = ctx.vault, {path: _text(body) for path, body in contents.items()}
    if vault.has_seals:
        vault.unsealed(dict(ctx.store.inputs(deployment)))  # from now on the vault knows their secrets
    binary = [contents[path].decode("latin-1") for path, text in texts.items() if not isinstance(text, str)]
    if vault.sealed(list(binary)) != binary:
        return FilesTaken(left_out="a file that is no text holds a secret")
    told = vault.sealed(texts)
    assert isinstance(told, dict), "a mapping stays one"
    return FilesTaken(told, main, [each.path for each in files if each.is_executable], digest_of(main, files))


def _text(body: bytes) -> Value:
    """Return the content as text if encoding the text gives the same bytes, otherwise as base64."""
    try:
        found = body.decode()
    except UnicodeDecodeError:
        return {BINARY: base64.b64encode(body).decode("ascii")}
    return found


def _is_document(path: str) -> bool:
    if not path.endswith(".json") or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return A_DOCUMENT in file.read(MOST_BYTES)


# -- adopting ----------------------------------------------------------------------------------------------------------


def is_same(document: Mapping[str, Any], row: StoredBlueprint) -> bool:
    """Return True if a stored blueprint has the files of the document, or if the document has no digest."""
    said = document[NATIVE].get("files") or {}
    digest = said.get("digest")
    return not digest or digest == row.digest


def is_there(ctx: RequestContext, document: Mapping[str, Any], folder: str) -> bool:
    """Return True if the folder contains the document's blueprint: a main file with the same name and content.

    The content is not compared if the document lacks it, or if another store has encrypted it. Raises: the errors of
    ``brought``.
    """
    file = Path(folder, Path(str(document["template"]["file"])).name)
    if not file.is_file():
        return False
    main = (document[NATIVE].get("files") or {}).get("main")
    body = document["files"].get(main) if main else None
    if body is None:
        return True
    try:
        return file.read_bytes() == _bytes(_opened(ctx, {"main": body})["main"])
    except ProblemsError:  # encrypted by another store: it cannot be compared, so assume that it is the same
        return True


def brought(ctx: RequestContext, document: Mapping[str, Any], name: str) -> Brought | None:
    """Write the document's files into the folder for files of stored blueprints, or return None if it has no files.

    ``name``: the deployment's name, from which a blueprint id is made if the document names none. Raises: ``KeyError``,
    ``TypeError`` or ``ValueError`` for files in another form than that of an export.
    """
    said = document[NATIVE].get("files") or {}
    if not said.get("main"):
        return None
    runs = set(said["executable"])
    bodies = {_relative(path): _bytes(body) for path, body in _opened(ctx, document["files"]).items()}
    if sum(map(len, bodies.values())) > MOST_BYTES or len(bodies) > MOST_FILES or said["main"] not in bodies:
        raise ValueError("its files are too many, or its blueprint is not among them")
    files = tuple(
        StoredFile(path, hashlib.sha256(body).hexdigest(), len(body), path in runs)
        for path, body in sorted(bodies.items())
    )
    digest = digest_of(said["main"], files)
    if digest != said["digest"]:
        raise ValueError("its files were changed, name a blueprint instead: --blueprint FILE")
    folder = work_folder(ctx) / digest
    by_digest = {each.digest: bodies[each.path] for each in files}
    materialize_tree(folder, files, by_digest.__getitem__)
    stored = str(document[NATIVE]["uses"].get("") or "").rpartition("@")[0]
    return Brought(
        stored if ID.fullmatch(stored) else _id(name), BlueprintTree(str(folder), said["main"], files, digest)
    )


def moved(ctx: RequestContext, found: Brought, code: CodeLocation) -> CodeLocation:
    """Return where the code is now: the new blueprint folder, plugin folders inside it, and this machine's plugin folders."""
    old, new = code.blueprint_folder, found.tree.folder
    inside = [
        str(Path(new, Path(folder).relative_to(old)))
        for folder in code.plugin_folders
        if Path(folder).is_relative_to(old)
    ]
    return ctx.app.code_places(found.main, tuple(inside))


def _opened(ctx: RequestContext, files: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the decrypted files. Raises: PL-C086 if another store has encrypted them."""
    try:
        found = ctx.vault.unsealed(dict(files))
    except ProblemsError as error:
        if any(problem.code not in CANNOT_OPEN for problem in error.problems):
            raise
        message = "the secrets in its files were sealed by another store"
        raise problem_error("PL-C086", message, "name a blueprint: --blueprint FILE") from error
    assert isinstance(found, dict), "a mapping stays one"
    return found


def _relative(path: str) -> str:
    """Return the path if it is relative and stays below its folder; raise ``ValueError`` otherwise."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path or "/".join(parts) != path:
        raise ValueError(f"'{path}' is no path of a file in a folder")
    return path


def _bytes(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, dict) and isinstance(body.get(BINARY), str):
        try:
            return base64.b64decode(body[BINARY], validate=True)
        except binascii.Error as error:
            raise ValueError(f"a file is not in base64: {error}") from error
    raise ValueError("a file is neither a text nor in base64")


def _id(name: str) -> str:
    """Return a valid id for a stored blueprint, derived from the name of a deployment.

    >>> _id("shop"), _id("7 shops!")
    ('shop', 'shops')
    """
    return re.sub(r"^[^A-Za-z]+", "", re.sub(r"[^A-Za-z0-9_.-]+", "-", name))[:128].rstrip("-.") or "adopted"
