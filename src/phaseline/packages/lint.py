"""Warnings about stage numbers that are allowed in a package but make little sense."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from phaseline.model.packages.package import Package, StageTask
from phaseline.packages.format.problem_report import FileElement, listed
from phaseline.packages.format.stage_ranges import Range, range_of, ranges_of

MAX_NAMED: Final = 8
"""Largest number of stage numbers that one warning lists."""


def warn_of_numbers(package: Package, spot: FileElement) -> None:
    """Add one warning for all numbers in reserved ranges, and one for all outside the ranges of the package's groups (W301).

    Tasks without a number are not checked.
    """
    numbered = [task for task in package.stage_tasks if "/" in task.written]
    reserved = [task for task in numbered if _is_reserved(range_of(task.number))]
    if reserved:
        what = f"{_numbers(reserved)} in a range that is reserved for future uses"
        mend = "use 0-999 for hardware, 2000-2999 for disks, 4000-4999 for networks, 6000-6999 for software, 8000-8999 for monitoring"
        spot.at(reserved[0].index, "stage").odd("PL-F051", what, mend)
    wanted = ranges_of(package.groups)
    outside = (
        [task for task in numbered if task not in reserved and range_of(task.number) not in wanted] if wanted else []
    )
    if outside:
        where = listed(each.text for each in wanted)
        what = f"{_numbers(outside)} outside {where}, where packages of its groups belong"
        mend = f"use numbers in {where}, or other groups; the present number works too"
        spot.at(outside[0].index, "stage").odd("PL-F051", what, mend)


def _is_reserved(found: Range | None) -> bool:
    return found is not None and found.is_reserved


def _numbers(tasks: Sequence[StageTask]) -> str:
    """Return the numbers of the tasks with a verb, such as ``/100 and /200 are``."""
    words = list(dict.fromkeys(f"/{task.written.partition('/')[2]}" for task in tasks))
    more = f" and {len(words) - MAX_NAMED} more" if len(words) > MAX_NAMED else ""
    return f"{_joined(words[:MAX_NAMED])}{more} {'is' if len(words) == 1 else 'are'}"


def _joined(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
