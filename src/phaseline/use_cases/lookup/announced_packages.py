"""Find packages that installed distributions announce, and read name and version from a package folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phaseline.catalog.files import distributed_packages, package_files
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Problem
from phaseline.packages.format import problem_report, yaml_reader


@frozen
class PackageSource:
    """The files from which an installed package was copied.

    ``origin`` is their folder, or the announcing distribution. ``problems`` explain why there are no files.
    """

    origin: str
    folder: str
    problems: Sequence[Problem] = ()


def announced_sources() -> Iterator[PackageSource]:
    """Yield the packages of installed distributions. A missing ``metadata.yaml`` is noticed only when it is read."""
    for one in distributed_packages.announced_packages():
        yield PackageSource(one.origin, one.folder, one.problems)


def read_identity(folder: Path) -> tuple[str, str] | None:
    """Return (name, version) of a package without checking them, or None if its metadata cannot be read."""
    try:
        source = yaml_reader.read_source(
            package_files.MARK, (folder / package_files.MARK).read_bytes(), problem_report.Findings()
        )
    except OSError:
        return None
    root = source.document.root if source is not None and source.document is not None else None
    return (str(root.get("name")), str(root.get("version"))) if isinstance(root, dict) else None
