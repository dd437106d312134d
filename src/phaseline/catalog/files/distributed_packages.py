"""Packages that Python distributions contain: an entry point of the group ``phaseline.packages`` names the folder's
module.

``[project.entry-points."phaseline.packages"]`` with ``ntp = "acme_ntp.package"`` declares that the folder
``acme_ntp/package`` is a package with a ``metadata.yaml``. No module is imported. The folder of an installed
distribution is where Python finds the module; the folder of an unpacked wheel is inside the wheel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phaseline.catalog.code.entry_points import is_announced
from phaseline.catalog.code.search_path import find_installed
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem

GROUP = "phaseline.packages"
ORIGIN = "distribution "
"""First part of the origin of a package that an installed distribution announces."""


@frozen
class AnnouncedPackage:
    """A package that an installed distribution announces. ``origin`` names the distribution and the entry point.

    ``folder`` is empty if it is not found; ``problems`` then has the reason.
    """

    name: str
    origin: str
    folder: str = ""
    problems: Sequence[Problem] = ()


def announced_packages() -> Iterator[AnnouncedPackage]:
    """Yield the packages that installed distributions announce, sorted by the names of their entry points."""
    if not is_announced(GROUP):
        return
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        distribution = point.dist.name if point.dist is not None else "?"
        origin = f"{ORIGIN}{distribution}: {point.name}"
        spec = find_installed(_module(point.value))
        folders = [] if spec is None else list(spec.submodule_search_locations or ())
        if folders:
            yield AnnouncedPackage(point.name, origin, folders[0])
            continue
        message = (
            f"the entry point '{point.name}' of {distribution} names '{point.value}', which is no folder with modules"
        )
        mend = f"correct it: the entry point in the group {GROUP} names the module whose folder has metadata.yaml; or install the distribution again"
        yield AnnouncedPackage(
            point.name, origin, problems=(Problem("PL-F060", message, mend, Place(subject=point.name)),)
        )


def folders_in_wheel(unpacked: Path) -> list[Path]:
    """Return the package folders that an unpacked wheel announces, or an empty list if it announces none or is no
    wheel.
    """
    from configparser import ConfigParser, Error

    found: dict[Path, None] = {}
    for file in sorted(unpacked.glob("*.dist-info/entry_points.txt")):
        parser = ConfigParser(delimiters=("=",), interpolation=None)
        try:
            parser.read_string(file.read_text("utf-8"))
        except (Error, UnicodeError):
            continue
        for value in dict(parser.items(GROUP) if parser.has_section(GROUP) else ()).values():
            found[unpacked.joinpath(*_module(value).split("."))] = None
    return list(found)


def _module(value: str) -> str:
    return value.partition(":")[0].strip()
