"""Units of systemd as text (SC5)."""

from phaseline.cli.render.timer_units import units_text
from phaseline.lang.fast_dataclasses import altered
from phaseline.use_cases.tools.timer_units import TimerUnit, TimerUnits

FOUND = TimerUnits((TimerUnit("a.service", "[Service]\n"), TimerUnit("a.timer", "[Timer]\n")), "systemctl start")


def test_sc5_units_are_printed_under_their_names() -> None:
    assert units_text(FOUND) == "# a.service\n[Service]\n\n# a.timer\n[Timer]\n"


def test_sc5_written_units_are_named_with_the_command_that_starts_them() -> None:
    text = units_text(altered(FOUND, folder="/units"))
    assert text == "a.service and a.timer are in /units. Start the timer:\n  systemctl start"
