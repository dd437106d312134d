"""Packs a folder of this machine into one tar file for a host, identified by a digest of its contents."""

from __future__ import annotations

import hashlib
import io
import tarfile
from functools import lru_cache
from pathlib import Path

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.plugin_errors import NonRecoverableError

MAX_BYTES = 512 * 1024 * 1024
"""Largest total size, in bytes, of a folder that is sent to a host."""
UNPACK = "tar -xf -"
"""Shell command by which a host unpacks a bundle from its standard input."""


@frozen
class Bundle:
    """A folder as a tar file. ``digest`` is equal for equal files, names and permissions."""

    digest: str
    content: bytes
    names: tuple[str, ...]

    @property
    def sign(self) -> str:
        """The name of the file that is written to the host's folder when the bundle is completely unpacked."""
        return f".phaseline-{self.digest[:16]}"


def bundle_of(folder: Path, *, file_mode: int | None = None, folder_mode: int | None = None) -> Bundle:
    """Return everything in a folder as a bundle; it is cached until a file in the folder changes.

    ``file_mode`` and ``folder_mode``: permissions on the host, by default those of the files here.
    """
    if not folder.is_dir():
        raise NonRecoverableError(f"the folder {folder} is not there (any more)")
    files = tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")))
    seen = tuple((name, *_seen(folder / name)) for name in files)
    return _made(folder, seen, file_mode, folder_mode)


def _seen(path: Path) -> tuple[int, int, int]:
    found = path.lstat()
    return found.st_mtime_ns, found.st_size, found.st_mode


@lru_cache(maxsize=16)
def _made(
    folder: Path, seen: tuple[tuple[str, int, int, int], ...], file_mode: int | None, folder_mode: int | None
) -> Bundle:
    size = sum(size for _, _, size, _ in seen)
    if size > MAX_BYTES:
        raise NonRecoverableError(f"the folder {folder} holds {size:,} bytes; at most {MAX_BYTES:,} are sent")

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        """Remove the owner and the time of an entry, which have no meaning on the host, and set its permissions."""
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        given = folder_mode if entry.isdir() else file_mode
        entry.mode = (entry.mode | 0o200) & 0o777 if given is None else given  # kept read-only here, not there
        return entry

    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, *_ in seen:
            archive.add(folder / name, name, recursive=False, filter=plain)
    content = stream.getvalue()
    return Bundle(hashlib.sha256(content).hexdigest(), content, tuple(name for name, *_ in seen))
