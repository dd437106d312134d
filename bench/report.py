"""The table of all figures with their targets, on the terminal and in ``docs/benchmarks.md``."""

from __future__ import annotations

import datetime as dt
import os
import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, what came out, the target, and whether it was met (None: no target)."""

    what: str
    measured: str
    target: str = ""
    is_met: bool | None = None

    @property
    def verdict(self) -> str:
        """``met``, ``missed`` or nothing."""
        return "" if self.is_met is None else "met" if self.is_met else "**missed**"


def machine() -> str:
    """This machine in a line."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def table(rows: list[Row]) -> str:
    """The figures as a Markdown table."""
    lines = ["| figure | measured: median (smallest–largest) | target | |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.what} | {row.measured} | {row.target} | {row.verdict} |" for row in rows]
    return "\n".join(lines)


def write(rows: list[Row], parts: Sequence[str]) -> str:
    """Put the table into the page between its marks; the text that was written.

    ``parts``: the only ones that were measured; the other rows, and what is said of when they were measured, stay.
    """
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    said = f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d, %H:%M} UTC on {machine()}"
    if parts:
        name = f"The parts {', '.join(parts)} were measured again "
        told = [line for line in old.splitlines() if line and not line.startswith(("|", name))]
        measured = "\n".join([*told, f"{name}{said}."])
        lines = _exchanged(old.splitlines(), table(rows).splitlines())
    else:
        measured, lines = f"Measured {said}.", table(rows).splitlines()
    text = "\n".join([BEGIN, "", measured, "", *lines, "", END])
    PAGE.write_text(before + text + after)
    return text


def _exchanged(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The lines of a table with those that were measured again in place of theirs, and what is new at the end."""
    anew = {line.split(" | ")[0]: line for line in new}
    lines = [anew.pop(line.split(" | ")[0], line) for line in old if line.startswith("|")]
    return [*lines, *anew.values()]
