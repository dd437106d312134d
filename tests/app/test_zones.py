"""Zones are read from the data of the machine (SC3)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from phaseline.app.zones import YEARS_AHEAD, read_zone, zone_for, zone_info
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.recurrence.zone import UTC_ZONE, year_start


def test_sc3_a_zone_has_its_changes_from_the_year_before_to_30_years_ahead() -> None:
    zone = zone_for("Europe/Berlin", year_start(2026), year_start(2030))
    assert (zone.name, zone.last_year) == ("Europe/Berlin", 2030 + YEARS_AHEAD)
    assert year_start(2025) < zone.changes[0] < year_start(2026)
    assert len(zone.changes) == 2 * (2030 + YEARS_AHEAD - 2025 + 1)
    assert set(zone.offsets) == {3600, 7200}


def test_sc3_no_zone_is_utc() -> None:
    assert zone_for(None, 0) is zone_for("UTC", 0) is UTC_ZONE


@pytest.mark.parametrize(("name", "mend"), [("Europe/Berlim", "did you mean 'Europe/Berlin'?"), ("../etc/passwd", "")])
def test_bad_input_zones_that_there_are_not(name: str, mend: str) -> None:
    for read in (lambda: read_zone(name, 2020, 2021), lambda: zone_info(name)):
        with pytest.raises(ProblemsError) as caught:
            read()
        (found,) = caught.value.problems
        assert (found.code, found.mend) == ("PL-B159", mend or "write one such as Europe/Paris")


def test_sc3_a_machine_without_timezones_is_told_which_package_has_them() -> None:
    """In a process of its own, in which neither the system nor the package has any."""
    program = (
        "import sys, zoneinfo; sys.modules['tzdata'] = None; zoneinfo.reset_tzpath([])\n"
        "from phaseline.model.problems.problem import ProblemsError\n"
        "from phaseline.app.zones import read_zone\n"
        "try: read_zone('Europe/Berlin', 2020, 2021)\n"
        "except ProblemsError as error: print([(one.code, one.mend) for one in error.problems])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[('PL-B159', 'pip install tzdata')]\n"
