"""Reads archives that may come from an untrusted source: in one pass, within size limits, and never outside their
folder.
"""

from __future__ import annotations

import io
import posixpath
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Literal, NoReturn

from phaseline.catalog.files.rpm_files import Readable, is_rpm, read_cpio, rpm_payload
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError

CHUNK_BYTES = 256 * 1024
MAX_NAME = 1_000
"""Largest number of characters in the name of a member."""
TAR_MEMBER_BYTES = 2048
TAR_END_BYTES = 2 * tarfile.RECORDSIZE
"""Bytes beyond the contents of its members that a tar file may have, for its end marker.

In addition, each member may have a header of ``TAR_MEMBER_BYTES``. Both keep the total of unpacked bytes limited.
"""
_DAMAGES = (
    OSError,
    EOFError,
    zlib.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,
    NotImplementedError,
    ValueError,
)
"""Exceptions that Python's archive readers raise for a damaged file or an unknown format."""


@frozen
class ArchiveLimits:
    """Limits of an archive: the number of members, the bytes of one member, and the bytes of all members.

    Bytes are counted while they are unpacked, because sizes noted in an archive may be wrong.
    """

    members: int = 20_000
    member_bytes: int = 64 * 1024**2
    total_bytes: int = 512 * 1024**2


LIMITS = ArchiveLimits()


@frozen
class ArchiveMember:
    """One file of an archive. ``name`` has ``/`` between its parts, and never leads out of the archive.

    ``link`` is the target if the member is a link, and empty otherwise.
    """

    name: str
    content: bytes
    is_executable: bool = False
    link: str = ""


def read_members(
    archive: Path | IO[bytes],
    shown: str,
    *,
    limits: ArchiveLimits = LIMITS,
    wanted: Callable[[str], bool] = lambda _: True,
    with_folders: bool = False,
    with_links: bool = False,
) -> Iterator[ArchiveMember]:
    """Yield the files of a zip, wheel, tar (plain or packed by gzip, bzip2, xz), wagon or rpm, in the order of the
    archive.

    Only files for which ``wanted`` is true are returned, but all are checked. ``with_folders``: return folders, too,
    with names that end in ``/``. ``with_links``: return links, too, if they stay within the archive. ``shown`` is the
    archive's name in problems.

    Raises: ProblemsError (PL-B120 the archive is missing or damaged, or is no archive; PL-B121 a member is no file
    within the archive; PL-B122 it exceeds the limits). Some members may have been returned before.
    """
    return _Reading(shown, limits, wanted, with_folders=with_folders, with_links=with_links).read(archive)


def unpack(
    archive: Path, into: Path, *, limits: ArchiveLimits = LIMITS, with_folders: bool = False, with_links: bool = False
) -> list[str]:
    """Write the files of an archive into a new or empty folder, and return their names.

    ``with_folders``: write empty folders, too. ``with_links``: make links, but only after all files are written, so
    that no file is written through a link.

    Raises: the errors of ``read_members``; the folder may then contain some files, and should be deleted.
    """
    names = []
    found = read_members(archive, str(archive), limits=limits, with_folders=with_folders, with_links=with_links)
    for member in _links_last(found):
        file = into.joinpath(*member.name.split("/"))
        try:
            _write(file, member)
        except OSError as error:
            message = f"the member {member.name!r} of '{archive}' cannot be written: {error.strerror}"
            problem = Problem("PL-B120", message, "rename it, or make room", Place(str(archive)))
            raise ProblemsError([problem]) from error
        names.append(member.name)
    return names


def _links_last(members: Iterator[ArchiveMember]) -> Iterator[ArchiveMember]:
    links: list[ArchiveMember] = []
    for member in members:
        if member.link:
            links.append(member)
        else:
            yield member
    yield from links


def _write(file: Path, member: ArchiveMember) -> None:
    if member.link:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(member.link)
        return
    if member.name.endswith("/"):
        file.mkdir(parents=True, exist_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as opened:
        opened.write(member.content)
    if member.is_executable:
        file.chmod(file.stat().st_mode | stat.S_IXUSR)


class _Reading:
    """One reading of one archive, which checks the members and counts their bytes."""

    def __init__(
        self,
        shown: str,
        limits: ArchiveLimits,
        wanted: Callable[[str], bool],
        *,
        with_folders: bool,
        with_links: bool = False,
    ) -> None:
        self._shown = shown
        self._with_links = with_links
        self._with_folders = with_folders
        self._limits = limits
        self._wanted = wanted
        self._names: set[str] = set()
        self._total = 0
        self._folders = 0

    def read(self, archive: Path | IO[bytes]) -> Iterator[ArchiveMember]:
        try:
            with archive.open("rb") if isinstance(archive, Path) else archive as file:
                if zipfile.is_zipfile(file):
                    yield from self._zip(file)
                elif is_rpm(file):
                    yield from self._rpm(file)
                else:
                    yield from self._tar(file)
        except _DAMAGES as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            message = f"'{self._shown}' cannot be read as an archive: {reason or type(error).__name__}"
            raise self._refusal(
                "PL-B120", message, "name a zip, whl, wgn, tar, tar.gz or rpm file that is whole"
            ) from error

    def _zip(self, file: IO[bytes]) -> Iterator[ArchiveMember]:
        with zipfile.ZipFile(file) as opened:
            for entry in opened.infolist():
                mode = entry.external_attr >> 16
                kind = _kind(mode, is_folder=entry.is_dir())
                name = self._checked(entry.orig_filename, kind)
                if entry.flag_bits & 1:
                    self._refuse_member(entry.orig_filename, "is encrypted", "pack it without a password")
                yield from self._folder(name, kind)
                if kind == "link":
                    with opened.open(entry) as stream:
                        yield self._link(name, self._content(stream, entry.orig_filename).decode("utf-8", "replace"))
                elif kind == "file" and self._wanted(name):
                    with opened.open(entry) as stream:
                        content = self._content(stream, entry.orig_filename)
                    yield ArchiveMember(name, content, bool(mode & stat.S_IXUSR))

    def _tar(self, file: IO[bytes]) -> Iterator[ArchiveMember]:
        file.seek(0)
        limits = self._limits
        bounded = _Bounded(
            _unpacked(file), limits.total_bytes + limits.members * TAR_MEMBER_BYTES + TAR_END_BYTES, self._too_much
        )
        with tarfile.open(fileobj=bounded, mode="r|") as opened:
            for entry in opened:
                kind: Kind = "file" if entry.isreg() else "folder" if entry.isdir() else "other"
                if entry.issym() or entry.islnk():
                    kind = "link"
                name = self._checked(entry.name, kind)
                yield from self._folder(name, kind)
                if kind == "link":
                    yield self._link(name, entry.linkname, is_hard=entry.islnk())
                stream = opened.extractfile(entry) if kind == "file" and self._wanted(name) else None
                if stream is not None:
                    yield ArchiveMember(name, self._content(stream, entry.name), bool(entry.mode & stat.S_IXUSR))

    def _rpm(self, file: IO[bytes]) -> Iterator[ArchiveMember]:
        limits = self._limits
        with rpm_payload(file) as stream:
            bounded = _Bounded(stream, limits.total_bytes + limits.members * TAR_MEMBER_BYTES, self._too_much)
            for entry in read_cpio(bounded):
                name = self._checked(entry.name, _kind(entry.mode, is_folder=stat.S_ISDIR(entry.mode)))
                yield from self._folder(name, "folder" if stat.S_ISDIR(entry.mode) else "file")
                if stat.S_ISLNK(entry.mode):
                    yield self._link(name, self._content(entry.stream, entry.name).decode("utf-8", "replace"))
                elif not stat.S_ISDIR(entry.mode) and self._wanted(name):
                    yield ArchiveMember(name, self._content(entry.stream, entry.name), bool(entry.mode & stat.S_IXUSR))

    def _link(self, name: str, target: str, *, is_hard: bool = False) -> ArchiveMember:
        """Return the member for a link, or raise PL-B121 if its target is not within the archive.

        Whether the target exists is checked later, when the unpacked files are collected.
        """
        plain = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if (
            is_hard
            or target.startswith("/")
            or plain.split("/")[0] == ".."
            or not target.isprintable()
            or "\\" in target
        ):
            self._refuse_member(name, "is a link that leads out", "pack what it leads to in its place")
        return ArchiveMember(name, b"", link=target)

    def _folder(self, name: str, kind: Kind) -> Iterator[ArchiveMember]:
        if kind == "folder" and self._with_folders and name:
            self._folders += 1
            if self._folders > self._limits.members:
                self._too_much(f"{self._limits.members:,} folders")
            yield ArchiveMember(f"{name}/", b"")

    def _checked(self, name: str, kind: Kind) -> str:
        """Return a member's name without empty and ``.`` parts.

        Raise PL-B121 for a member that is dangerous to write to disk.
        """
        parts = [part for part in name.split("/") if part not in {"", "."}]
        if kind == "link" and not self._with_links:
            self._refuse_member(name, "is a link", "pack what it leads to in its place")
        if kind == "other":
            self._refuse_member(name, "is neither a file nor a folder", "leave it out")
        if name.startswith("/") or ".." in parts or "\\" in name or name[1:2] == ":":
            self._refuse_member(name, "leads out of the archive", "pack the folder itself, with names relative to it")
        if not name.isprintable() or len(name) > MAX_NAME:
            self._refuse_member(name, "has a name that no file should have", "rename it")
        plain = "/".join(parts)
        if kind in {"file", "link"}:
            if plain.lower() in self._names or not plain:
                self._refuse_member(name, "is there twice", "pack it once; capital letters make no difference")
            self._names.add(plain.lower())
            if len(self._names) > self._limits.members:
                self._too_much(f"{self._limits.members:,} files")
        return plain

    def _content(self, stream: Readable, name: str) -> bytes:
        """Return the content of a member, and check the limits while it is unpacked."""
        parts: list[bytes] = []
        size = 0
        while chunk := stream.read(CHUNK_BYTES):
            size += len(chunk)
            self._total += len(chunk)
            if size > self._limits.member_bytes:
                self._too_much(f"{self._limits.member_bytes:,} bytes in '{name}'")
            if self._total > self._limits.total_bytes:
                self._too_much(f"{self._limits.total_bytes:,} bytes in all")
            parts.append(chunk)
        return b"".join(parts)

    def _refuse_member(self, name: str, what: str, mend: str) -> NoReturn:
        shown = name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…"
        raise self._refusal("PL-B121", f"in '{self._shown}' the member {shown!r} {what}", mend)

    def _too_much(self, what: str) -> NoReturn:
        raise self._refusal("PL-B122", f"'{self._shown}' holds more than {what}", "leave out what is not needed")

    def _refusal(self, code: str, message: str, mend: str) -> ProblemsError:
        return ProblemsError([Problem(code, message, mend, Place(self._shown))])


Kind = Literal["file", "folder", "link", "other"]


def _kind(mode: int, *, is_folder: bool) -> Kind:
    """Return the kind of a member by its Unix mode.

    Archives made on other systems have no mode, which counts as a file.
    """
    if stat.S_ISLNK(mode):
        return "link"
    if is_folder:
        return "folder"
    return "file" if stat.S_ISREG(mode) or not stat.S_IFMT(mode) else "other"


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    """Return the decompressed stream of a file; the compression is recognized by the first bytes."""
    head = file.read(6)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]  # reads bytes, and nothing else is asked of it
    if head.startswith(b"BZh"):
        import bz2

        return bz2.BZ2File(file)
    if head == b"\xfd7zXZ\x00":
        import lzma

        return lzma.LZMAFile(file)
    return file


class _Bounded(io.RawIOBase):
    """A stream that calls ``refuse`` after ``limit_bytes``: a compressed tar shows its size only
    while it is unpacked.
    """

    def __init__(self, stream: IO[bytes], limit_bytes: int, refuse: Callable[[str], NoReturn]) -> None:
        self._stream = stream
        self._limit_bytes = limit_bytes
        self._left = limit_bytes
        self._refuse = refuse

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; call ``refuse`` when the stream exceeds its limit."""
        found = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(found)
        if self._left < 0:
            self._refuse(f"{self._limit_bytes:,} bytes in all")
        return found
