"""The ranges of stage numbers for kinds of packages: one table for the linter, the documentation and new packages."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from phaseline.lang.fast_dataclasses import frozen


@frozen
class Range:
    """Numbers of stage tasks from ``first`` to ``last``, including all fractions below ``last`` + 1, with their purpose
    (``use``).

    They are for tasks of packages of the group ``group``. ``stage`` is a name for the range that users may confuse with
    a stage.
    """

    first: int
    last: int
    use: str
    group: str = ""
    stage: str = ""

    @property
    def is_reserved(self) -> bool:
        """True if the range is reserved for future use."""
        return not self.use

    @property
    def text(self) -> str:
        """The range as text, such as ``4000-4999``."""
        return f"{self.first}-{self.last}"


RANGES: Final = (
    Range(0, 999, "hardware configuration, such as drivers", stage="hw_configuration"),
    Range(1000, 1999, ""),
    Range(2000, 2999, "partitions of disks and configuration of volumes", "storage", "disk_partitioning"),
    Range(3000, 3999, ""),
    Range(4000, 4999, "network configuration", "network", "network_configuration"),
    Range(5000, 5999, ""),
    Range(6000, 6999, "deployment of software", stage="software_installation"),
    Range(7000, 7999, ""),
    Range(8000, 8999, "deployment of monitoring services", "monitoring", "monitoring"),
)
"""The ranges of numbers, with the purpose of each; the same in both stages.

Source: the Fuel document (source 4), "Proposed change".
"""

RESERVED: Final = "reserved for future uses"


def range_of(number: Decimal) -> Range | None:
    """Return the range that contains a number, or None if the number is outside all ranges.

    >>> range_of(Decimal("4999.5")).text
    '4000-4999'
    """
    return next((each for each in RANGES if each.first <= number < each.last + 1), None)


def ranges_of(groups: tuple[str, ...]) -> tuple[Range, ...]:
    """Return the ranges for tasks of a package with these groups; groups without a range are left out."""
    return tuple(each for each in RANGES if each.group and each.group in {group.partition("::")[0] for group in groups})


def as_comments() -> str:
    """Return the table of ranges as YAML comments, for the first lines of a new package's task file."""
    width = max(len(each.text) for each in RANGES)
    lines = [
        "# A stage is pre_deployment or post_deployment, with / and a number if you like: post_deployment/4100.",
        "# Lower numbers run first, none counts as 0; equal ones run by the name of the package, then as written here.",
        "# By convention, so that packages that do not know one another run in a sensible order:",
        *(f"#   {each.text.ljust(width)}  {each.use or RESERVED}" for each in RANGES),
    ]
    return "\n".join(lines) + "\n"


def as_page() -> str:
    """Return the text of the page ``docs/package-ranges.md``."""
    rows = [f"| {each.text} | {each.use or RESERVED} | {each.group or '-'} |" for each in RANGES]
    table = "\n".join(["| numbers | for | packages of the group |", "| --- | --- | --- |", *rows])
    return f"""# Ranges of stage numbers

**Reference** for package authors. You will have: the stage number for each kind of task.

A task of a package runs before or after the deployment's own work. A stage number gives its place
there: `pre_deployment/4100`. Lower numbers run first. Each kind of work has a range of numbers, so
that packages which do not know each other run in a sensible order. The ranges are the same before
and after the deployment's own work:

{table}

A task without a number has the number 0. Negative numbers and fractions are allowed:

- `pre_deployment/-100` runs before all tasks with numbers in the table;
- there is always room between two numbers: `/4100.5` is between `/4100` and `/4101`.

Tasks with equal numbers run in the alphabetical order of their packages' names. Tasks of one
package with equal numbers run in the order in which they are in its file.

The ranges are conventions, and no number is refused. `plugins check` only warns
([PL-F051](errors/PL-F.md)) of a number in a reserved range, and of a number outside the ranges of
the package's `groups`.
"""
