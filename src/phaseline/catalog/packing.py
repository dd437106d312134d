"""Archives of blueprints: equal files make equal archives, whoever makes them and whenever."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.catalog.blueprint_trees import Tree

UNCHANGED_AT = 315_532_800
"""1980-01-01 in UTC, the first time that a zip file knows: every file has it."""
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
FILE, PROGRAM = 0o644, 0o755


def pack(tree: Tree, top: str, target: str) -> None:
    """Write the files of a tree below one folder ``top`` into a new archive: a zip, or a tar packed by gzip.

    It appears whole or not at all. Raises: ``FileExistsError``, ``OSError``.
    """
    beside = f"{target}.new-{os.getpid()}"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            (_zip if target.endswith(".zip") else _tar)(tree, top, file)
        os.link(beside, target)
    finally:
        Path(beside).unlink()


def _zip(tree: Tree, top: str, file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in tree.files:
            member = zipfile.ZipInfo(f"{top}/{each.path}", FIRST_DAY)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100000 | (PROGRAM if each.is_executable else FILE)) << 16
            archive.writestr(member, tree.content(each))


def _tar(tree: Tree, top: str, file: IO[bytes]) -> None:
    with (
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for each in tree.files:
            body = tree.content(each)
            member = tarfile.TarInfo(f"{top}/{each.path}")
            member.size, member.mtime = len(body), UNCHANGED_AT
            member.mode = PROGRAM if each.is_executable else FILE
            archive.addfile(member, io.BytesIO(body))
