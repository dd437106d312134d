"""Reads packages in rpm format: the program ``rpm2cpio`` converts an rpm to a cpio stream, which is read here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Protocol

from phaseline.lang.fast_dataclasses import frozen

MAGIC = b"\xed\xab\xee\xdb"
"""First bytes of every rpm file."""
PROGRAM = "rpm2cpio"
_CPIO = (b"070701", b"070702")
_HEAD_BYTES = 110
_END = "TRAILER!!!"
_MAX_NAME = 4_096
_MODE, _SIZE, _NAME_SIZE = 1, 6, 11
"""Indexes of the mode, the size and the length of the name among the numbers of a cpio header."""


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes, or all if ``size`` is negative; empty at the end."""
        ...


@frozen
class CpioEntry:
    """One member of a cpio stream. Read its content from ``stream`` before you ask for the next member."""

    name: str
    mode: int
    stream: Readable


def is_rpm(file: IO[bytes]) -> bool:
    """Return True if the file is an rpm; afterwards the file is at its beginning."""
    file.seek(0)
    head = file.read(len(MAGIC))
    file.seek(0)
    return head == MAGIC


@contextmanager
def rpm_payload(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Open the content of an rpm as a cpio stream. Raises: ``OSError`` if ``rpm2cpio`` is not installed, or fails."""
    import shutil
    import subprocess

    program = shutil.which(PROGRAM)
    if program is None:
        raise OSError(f"an rpm is unpacked by the program {PROGRAM}, which is not installed")
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # the bytes read so far are in our buffer; the program needs them, too
    process = subprocess.Popen([program], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield process.stdout
        said = process.stderr.read(1_000).decode("utf-8", "replace").strip()
        if process.wait():
            raise OSError(f"{PROGRAM} failed: {said or process.returncode}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def read_cpio(stream: Readable) -> Iterator[CpioEntry]:
    """Yield the members of a cpio stream of the "new" format.

    Raises: ``EOFError`` if it ends too early, ``ValueError`` if it is no such stream.
    """
    while True:
        head = _exactly(stream, _HEAD_BYTES)
        if head[:6] not in _CPIO:
            raise ValueError("this is no cpio stream of the new form")
        numbers = [int(head[at : at + 8], 16) for at in range(6, _HEAD_BYTES, 8)]
        name_size = numbers[_NAME_SIZE]
        if not 1 <= name_size <= _MAX_NAME:
            raise ValueError("a name in the cpio stream is too long")
        name = _exactly(stream, name_size)[:-1].decode("utf-8", "surrogateescape")
        _exactly(stream, -(_HEAD_BYTES + name_size) % 4)
        if name == _END:
            return
        size = numbers[_SIZE]
        content = _Part(stream, size)
        yield CpioEntry(name.removeprefix("./"), numbers[_MODE], content)
        content.skip()
        _exactly(stream, -size % 4)


def _exactly(stream: Readable, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = stream.read(size - len(found))
        if not more:
            raise EOFError("the cpio stream ends too early")
        found += more
    return found


class _Part:
    """The next ``size`` bytes of a stream, as a stream of its own."""

    def __init__(self, stream: Readable, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` of the remaining bytes, or all if ``size`` is negative.

        Raises: ``EOFError`` if some are missing.
        """
        wanted = self._left if size < 0 else min(size, self._left)
        found = self._stream.read(wanted) if wanted else b""
        if wanted and not found:
            raise EOFError("the cpio stream ends too early")
        self._left -= len(found)
        return found

    def skip(self) -> None:
        """Read the remaining bytes without returning them."""
        while self._left:
            self.read(65_536)
