"""Packages that installed distributions announce, and what the metadata of a folder says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Problem


@frozen
class PackageSource:
    """Files that a record follows. ``origin``: their folder, or who announces it; ``problems``: why there are none."""

    origin: str
    folder: str
    problems: Sequence[Problem] = ()


def announced_sources() -> Iterator[PackageSource]:
    """Packages of installed distributions; one without ``metadata.yaml`` is found out when it is read."""
    from phaseline.catalog.files.distributed_packages import announced_packages

    for one in announced_packages():
        yield PackageSource(one.origin, one.folder, one.problems)


def says(folder: Path) -> tuple[str, str] | None:
    """(name, version) of a package, if its metadata can be read at all; they may be wrong."""
    from phaseline.catalog.files.package_files import MARK
    from phaseline.packages.format.problem_report import Findings
    from phaseline.packages.format.yaml_reader import read_source

    try:
        source = read_source(MARK, (folder / MARK).read_bytes(), Findings())
    except OSError:
        return None
    root = source.document.root if source is not None and source.document is not None else None
    return (str(root.get("name")), str(root.get("version"))) if isinstance(root, dict) else None
