"""Units of systemd as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.use_cases.tools.timer_units import TimerUnits


def units_text(found: TimerUnits) -> str:
    """Return the units, each under the name of its file; if they were written, where, and the command that starts them."""
    if found.folder:
        names = " and ".join(unit.name for unit in found.units)
        return f"{names} are in {found.folder}. Start the timer:\n  {found.start}"
    return "\n".join(f"# {unit.name}\n{unit.text}" for unit in found.units)
