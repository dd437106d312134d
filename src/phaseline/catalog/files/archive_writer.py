"""Writes archives of blueprints and packages: equal files give equal archives, on any machine and at any time."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.catalog.files.blueprint_trees import BlueprintTree

UNCHANGED_AT = 315_532_800
"""Time stamp of every file in an archive, so that equal files give equal archives: 1980-01-01 UTC, the earliest in a
zip.
"""
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
FILE, PROGRAM, FOLDER = 0o644, 0o755, 0o755
NOTHING_MORE: Mapping[str, bytes] = MappingProxyType({})


def pack(tree: BlueprintTree, top: str, target: str, more: Mapping[str, bytes] = NOTHING_MORE) -> None:
    """Write the files of a tree below one folder ``top`` into a new archive: a zip, or a tar packed by gzip.

    ``more`` is {path: content} of additional files. If writing fails, no archive is left behind.
    Raises: ``FileExistsError``, ``OSError``.
    """
    beside = f"{target}.new-{os.getpid()}"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            (_zip if target.endswith(".zip") else _tar)(_members(tree, top, more), file)
        os.link(beside, target)
    finally:
        Path(beside).unlink()


def _members(tree: BlueprintTree, top: str, more: Mapping[str, bytes]) -> Iterator[tuple[str, bytes, int]]:
    """Yield (name, content, mode) for each member of the archive; the name of an empty folder ends with ``/``."""
    for each in tree.files:
        yield f"{top}/{each.path}", tree.content(each), PROGRAM if each.is_executable else FILE
    for path, content in more.items():
        yield f"{top}/{path}", content, FILE


def _zip(members: Iterator[tuple[str, bytes, int]], file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in members:
            member = zipfile.ZipInfo(name, FIRST_DAY)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = ((0o040000 | FOLDER) if name.endswith("/") else (0o100000 | mode)) << 16
            archive.writestr(member, content)


def _tar(members: Iterator[tuple[str, bytes, int]], file: IO[bytes]) -> None:
    with (
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content, mode in members:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), UNCHANGED_AT, mode
            if name.endswith("/"):
                member.type, member.mode = tarfile.DIRTYPE, FOLDER
            archive.addfile(member, io.BytesIO(content))
