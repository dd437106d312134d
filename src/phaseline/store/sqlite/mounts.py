"""Detection of the kind of file system of a file."""

from __future__ import annotations

from pathlib import Path


def kind_of_file_system(file: Path) -> str:
    """Return the kind of file system that contains the file, such as ``ext4``; empty if unknown.

    Of all mount points above the file, the longest one decides.
    """
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    mounts = [(fields[1], fields[2]) for fields in map(str.split, lines) if len(fields) > 2]
    above = [mount for mount in mounts if file.resolve().is_relative_to(mount[0])]
    return max(above, key=lambda mount: len(mount[0]), default=("", ""))[1]
