"""Schedules whose engines crash and pause while clocks are set forward and back: nothing fires twice, nothing is lost."""

from __future__ import annotations

import pytest

from phaseline.testing.simulation.firings import simulate_schedules

SEEDS = range(12)
"""A few seconds' worth; ``python -m phaseline.testing.simulation --schedules`` tries as many as wanted."""


@pytest.mark.parametrize("seed", SEEDS)
def test_sc6_sc13_each_time_of_a_schedule_has_one_outcome(seed: int) -> None:
    simulate_schedules(seed)


def test_sc6_sc7_firings_crashes_and_missed_times_are_met() -> None:
    stories = [simulate_schedules(seed) for seed in range(5)]
    assert sum(story.firings for story in stories) > 0
    assert sum(story.missed for story in stories) > 0
    assert sum(story.crashes for story in stories) > 0


def test_the_same_seed_gives_the_same_story_of_schedules() -> None:
    assert simulate_schedules(3).lines == simulate_schedules(3).lines
