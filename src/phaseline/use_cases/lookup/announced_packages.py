"""Packages that installed distributions announce, and what the metadata of a folder says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phaseline.catalog.files import distributed_packages, package_files
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Problem
from phaseline.packages.format import problem_report, yaml_reader


@frozen
class PackageSource:
    """Files that a record follows. ``origin``: their folder, or who announces it; ``problems``: why there are none."""

    origin: str
    folder: str
    problems: Sequence[Problem] = ()


def announced_sources() -> Iterator[PackageSource]:
    """Packages of installed distributions; one without ``metadata.yaml`` is found out when it is read."""
    for one in distributed_packages.announced_packages():
        yield PackageSource(one.origin, one.folder, one.problems)


def says(folder: Path) -> tuple[str, str] | None:
    """(name, version) of a package, if its metadata can be read at all; they may be wrong."""
    try:
        source = yaml_reader.read_source(
            package_files.MARK, (folder / package_files.MARK).read_bytes(), problem_report.Findings()
        )
    except OSError:
        return None
    root = source.document.root if source is not None and source.document is not None else None
    return (str(root.get("name")), str(root.get("version"))) if isinstance(root, dict) else None
