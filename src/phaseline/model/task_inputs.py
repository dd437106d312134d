"""What runs a task of a package: the names of the runners by type, and the inputs that every one of them is given.

``inputs``: ``task`` {package, version, file, index from 0, stage, id, title}, ``parameters`` as the package says them,
``package_folder`` (absolute), ``scripts`` (its folder of scripts, relative to it), ``work`` (absolute: where work folders
of instances of this machine lie) and ``settings`` of the package.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_RUNNERS = "phaseline.tasks.functions"
RUNNERS: Mapping[str, str] = MappingProxyType(
    {name: f"{_RUNNERS}.{name}" for name in ("shell", "puppet", "upload_file", "copy_files", "sync", "python")}
)
"""{type of task: the function that runs it}; the other types are not called, or are operations."""
SHELL_ONCE = f"{_RUNNERS}.shell_once"
"""Runs a shell task that must not be tried again (``retries: 0``): after a crash in its middle a person decides."""
NOTE_BOOT, AWAIT_BOOT = f"{_RUNNERS}.note_boot", f"{_RUNNERS}.await_boot"
"""What goes before and after the operation of a reboot."""
REBOOT_OPERATION = "cloudify.interfaces.power.reboot"
"""The operation of a node by which its instances are booted anew."""
