"""The findings of ``phaseline doctor``, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean
from phaseline.cli.streams.escaping import painted

if TYPE_CHECKING:
    from phaseline.use_cases.tools.doctor import Check

COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor_text(checks: Sequence[Check]) -> str:
    """Return all findings as text, with their fixes and the number of each kind."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        level = painted(f"{check.level:<4}", COLORS[check.level])
        lines.append(f"{level}  {check.name:<{width}}  {clean(check.text)}")
        if check.mend:
            lines.append(f"      {'':<{width}}  {clean(check.mend)}")
    counts = {level: sum(check.level == level for check in checks) for level in COLORS}
    lines.append(f"\n{counts['ok']} ok, {counts['warn']} to look at, {counts['fail']} failing")
    return "\n".join(lines)
