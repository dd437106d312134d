"""What each version of the package format has: files, kinds of tasks, groups. All checks use this one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages.package import NATIVE

Presence: TypeAlias = Literal["required", "required not empty", "optional", "optional not empty"]
"""Whether a package must contain a file, and whether the file may be empty."""
GROUPS: Final = ("network", "storage", "storage::cinder", "storage::glance", "hypervisor", "monitoring")
METADATA: Final = "metadata.yaml"
TASKS: Final = "tasks.yaml"
GRANULAR: Final = "deployment_tasks.yaml"
SETTINGS: Final = "environment_config.yaml"
_OLD_TYPES: Final = ("puppet", "shell")
_OWN_TYPES: Final = ("python", "operation")
GRANULAR_TYPES: Final = (
    *("puppet", "shell", "group", "skipped", "copy_files", "sync", "upload_file", "stage", "reboot"),
)


@frozen
class Format:
    """One version of the format.

    ``number`` is the first part of ``version``; ``least_fuel`` is the oldest release of Fuel that supports the format.
    """

    version: str
    number: int
    least_fuel: str
    files: Mapping[str, Presence]
    stage_types: tuple[str, ...]
    granular_types: tuple[str, ...] = GRANULAR_TYPES
    groups: tuple[str, ...] = GROUPS

    @property
    def is_native(self) -> bool:
        """True for Phaseline's own format."""
        return self.version == NATIVE

    @property
    def has_numbers(self) -> bool:
        """True if stages may have numbers."""
        return self.number >= 2


_V1: Final[dict[str, Presence]] = {
    METADATA: "required not empty",
    SETTINGS: "required",
    TASKS: "required not empty",
}
_V3: Final[dict[str, Presence]] = _V1 | {
    TASKS: "optional not empty",
    GRANULAR: "required not empty",
    "network_roles.yaml": "optional",
    "node_roles.yaml": "optional",
    "volumes.yaml": "optional",
}
_V4: Final[dict[str, Presence]] = _V3 | {TASKS: "optional", GRANULAR: "required", "components.yaml": "optional"}
_V5: Final[dict[str, Presence]] = _V4 | {
    "nic_config.yaml": "optional",
    "bond_config.yaml": "optional",
    "node_config.yaml": "optional",
}
_OPTIONAL: Final[Presence] = "optional"
_NATIVE: Final[dict[str, Presence]] = {**dict.fromkeys(_V5, _OPTIONAL), METADATA: "required not empty"}
_V2_TYPES: Final = (*_OLD_TYPES, "reboot")
_LATE_GROUPS: Final = (*GROUPS, "equipment")

FORMATS: Final = {
    each.version: each
    for each in (
        Format("1.0.0", 1, "6.0", _V1, _OLD_TYPES),
        Format("2.0.0", 2, "6.1", _V1, _V2_TYPES),
        Format("3.0.0", 3, "7.0", _V3, _V2_TYPES),
        Format("4.0.0", 4, "8.0", _V4, _V2_TYPES, groups=_LATE_GROUPS),
        Format("5.0.0", 5, "9.0", _V5, _V2_TYPES, groups=_LATE_GROUPS),
        Format(
            NATIVE,
            10,
            "",
            _NATIVE,
            (*_V2_TYPES, "copy_files", "sync", "upload_file", *_OWN_TYPES),
            (*GRANULAR_TYPES, *_OWN_TYPES),
            _LATE_GROUPS,
        ),
    )
}
FILES: Final = tuple(_V5)
"""Every file that some version of the format has."""


def is_read(path: str) -> bool:
    """Return whether the content of a file is read; of all other files only the names are used."""
    return path.endswith((".yaml", ".yml"))
