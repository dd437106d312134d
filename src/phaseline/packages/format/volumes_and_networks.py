"""Volumes, network roles and components that a package adds to the environment of a deployment."""

from __future__ import annotations

from typing import Any, Final

from phaseline.model.packages.package import Component, RelatedComponents
from phaseline.packages.format.format_versions import Format
from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.value_forms import (
    ID,
    ID_ALLOWED,
    anything,
    choice,
    each,
    mapping,
    required,
    rows,
    text,
    truth,
)

_KINDS: Final = "hypervisor|network|storage|additional_service"
_PARTS: Final = r"(?:[0-9a-z_-]+:)*"
_COMPONENT_NAME: Final = text(
    rf"(?:{_KINDS}):{_PARTS}[0-9a-z_-]+",
    "hypervisor:, network:, storage: or additional_service:, and names of a-z, 0-9, '-', '_' with ':' between them",
)
_RELATED: Final = rows(
    mapping(
        "a related component",
        {
            "name": required(
                text(rf"(?:{_KINDS}):{_PARTS}(?:[0-9a-z_-]+|\*)?", "the name of a component; it may end in *")
            ),
            "message": text(),
        },
    ),
    of="components with a name",
)
_COMPONENTS: Final = rows(
    mapping(
        "a component",
        {
            "name": required(_COMPONENT_NAME),
            "label": required(text()),
            "description": text(),
            "compatible": _RELATED,
            "requires": _RELATED,
            "incompatible": _RELATED,
            "bind": rows(anything, of="values"),
        },
        is_closed=True,
    ),
    of="components",
)
_VIP_NAME: Final = text("[0-9a-z_-]+", "small letters, digits, '-' and '_'")
_NETWORK_ROLES: Final = rows(
    mapping(
        "a network role",
        {
            "id": required(text()),
            "default_mapping": required(text()),
            "properties": required(
                mapping(
                    "the properties",
                    {
                        "subnet": required(truth),
                        "gateway": required(truth),
                        "vip": required(
                            rows(
                                mapping("an address", {"name": required(_VIP_NAME), "namespace": _VIP_NAME}),
                                of="addresses with a name",
                            )
                        ),
                    },
                )
            ),
        },
    ),
    of="network roles",
)
_ALLOCATION: Final = mapping(
    "an allocation", {"allocate_size": required(choice("all", "min", "full-disk")), "id": required(text())}
)
_VOLUMES: Final = mapping(
    "the file",
    {
        "volumes": required(
            rows(mapping("a volume", {"id": required(text()), "type": required(text())}, likely=False), of="volumes")
        ),
        "volumes_roles_mapping": required(
            each(ID, ID_ALLOWED, rows(_ALLOCATION, least=1, of="allocations"), title="roles")
        ),
    },
)


def check_volumes(value: Any, spot: FileElement, _format: Format) -> None:
    """Check volumes and the roles that use them; every volume of a role must be defined exactly once."""
    _VOLUMES(value, spot)
    if isinstance(value, dict):
        _check_ids(value.get("volumes"), spot.at("volumes"))


def check_network_roles(value: Any, spot: FileElement, _format: Format) -> None:
    """Check network roles, which must have different names."""
    _NETWORK_ROLES(value, spot)
    _check_ids(value, spot)


def check_components(value: Any, spot: FileElement, _format: Format) -> None:
    """Check components, which must have different names."""
    _COMPONENTS(value, spot)
    _check_ids(value, spot, key="name")


def _check_ids(value: Any, spot: FileElement, key: str = "id") -> None:
    seen: set[str] = set()
    for place, item in enumerate(value if isinstance(value, list) else ()):
        name = item.get(key) if isinstance(item, dict) else None
        if isinstance(name, str):
            if name in seen:
                spot.at(place, key).wrong("PL-F014", "is there twice", "rename one of the two", value=name)
            seen.add(name)


def made_components(value: Any) -> tuple[Component, ...]:
    """Return the components of a file that has been checked."""
    return tuple(
        Component(
            item["name"],
            item["label"],
            item.get("description", ""),
            _related(item.get("compatible")),
            _related(item.get("requires")),
            _related(item.get("incompatible")),
            tuple(item.get("bind") or ()),
        )
        for item in value or ()
    )


def _related(value: Any) -> tuple[RelatedComponents, ...]:
    return tuple(RelatedComponents(other["name"], other.get("message", "")) for other in value or ())
