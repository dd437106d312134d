"""Zones as values, held against the zones of Python."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from phaseline.app.zones import read_zone
from phaseline.plan.recurrence.zone import UTC_ZONE, Zone, year_of, year_start

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Asia/Jerusalem", "Pacific/Apia")


@pytest.mark.parametrize("name", NAMES)
def test_sc3_a_zone_shows_the_wall_clock_of_each_moment(name: str) -> None:
    zone, known = read_zone(name, 2005, 2060), ZoneInfo(name)
    for hours in range(0, 24 * 366 * 50, 97):
        moment = 1_136_073_600 + 3600 * hours
        offset = (EPOCH + timedelta(seconds=moment)).astimezone(known).utcoffset()
        assert offset is not None
        assert zone.offset_at(moment) == offset.total_seconds(), moment


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Jerusalem"])
def test_sc3_summer_time_goes_on_after_the_years_asked_for(name: str) -> None:
    zone, known = read_zone(name, 2025, 2056), ZoneInfo(name)
    for hours in range(0, 24 * 366 * 43, 97):
        moment = year_start(2057) + 3600 * hours
        offset = (EPOCH + timedelta(seconds=moment)).astimezone(known).utcoffset()
        assert offset is not None
        assert zone.offset_at(moment) == offset.total_seconds(), moment


@pytest.mark.parametrize("name", NAMES)
def test_sc3_a_wall_time_is_its_first_moment_or_the_first_after_it(name: str) -> None:
    zone, known = read_zone(name, 2005, 2060), ZoneInfo(name)
    near = [change + quarter for change in zone.changes for quarter in range(-14_400, 14_400, 900)]
    for wall in (
        *(moment + zone.offset_at(moment) for moment in near),
        *range(year_start(2090), year_start(2091), 9000),
    ):
        said = (EPOCH + timedelta(seconds=wall)).replace(tzinfo=known)  # fold 0: the first of two
        moment = int((said.astimezone(UTC) - EPOCH).total_seconds())
        if zone.wall(moment) == wall:
            assert zone.moment(wall) == moment
        else:  # it does not exist: the clock jumps over it
            found = zone.moment(wall)
            assert zone.wall(found) > wall > zone.wall(found - 1)


def test_sc3_each_change_of_a_zone_is_known_in_advance() -> None:
    zone = read_zone("Europe/Berlin", 2026, 2056)
    known = ZoneInfo("Europe/Berlin")
    moment, changes = year_start(2070), []
    while moment < year_start(2072):
        following = zone.next_change(moment)
        assert following is not None
        if zone.offset_at(following) != zone.offset_at(following - 1):
            changes.append((EPOCH + timedelta(seconds=following)).astimezone(known).isoformat())
        moment = following
    assert changes == [
        "2070-03-30T03:00:00+02:00",
        "2070-10-26T02:00:00+01:00",
        "2071-03-29T03:00:00+02:00",
        "2071-10-25T02:00:00+01:00",
    ]


def test_a_zone_without_changes_has_none() -> None:
    assert UTC_ZONE.next_change(0) is None
    assert (UTC_ZONE.wall(5), UTC_ZONE.moment(5)) == (5, 5)
    assert Zone("Asia/Tokyo", (), (32_400,)).moment(0) == -32_400


def test_years_begin_and_end() -> None:
    assert [year_of(second) for second in (-1, 0, year_start(2000) - 1, year_start(2000))] == [1969, 1970, 1999, 2000]
    assert year_of(year_start(10_000)) == 9999


def test_sc3_a_year_with_a_calendar_that_did_not_come_is_like_the_last_year() -> None:
    """2100 has no leap day, so the 28 years up to 2110 lack a calendar: that of 2112, a leap year from a Friday on."""
    zone = read_zone("Europe/Berlin", 2080, 2110)
    assert not [
        year
        for year in range(2083, 2111)
        if (year_start(year) - year_start(2112)) % (7 * 86_400) == 0
        and year_start(year + 1) - year_start(year) == 366 * 86_400
    ]
    for month in range(12):
        into = month * 30 * 86_400
        assert zone.offset_at(year_start(2112) + into) == zone.offset_at(year_start(2110) + into)
    change = zone.next_change(year_start(2110))
    assert change is not None
    assert zone.next_change(year_start(2112)) == change - year_start(2110) + year_start(2112)
