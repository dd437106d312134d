"""Whole lives on a virtual clock: faults, crashes and users drawn from a seed."""

from __future__ import annotations

import pytest

from phaseline.testing.simulation import simulate

SEEDS = range(100)
"""About ten seconds' worth; CI tries ten thousand (``make sim``)."""


FOUND_MISTAKES = (280, 6663)
"""Seeds beyond those that once broke a promise, kept.

280: an old round was set going beside its successor. 6663: the simulated executor, asked to kill one execution's
calls, forgot the answers of another's that would have come in the same report.
"""


@pytest.mark.parametrize("seed", [*SEEDS, *FOUND_MISTAKES])
def test_no_promise_is_broken_in_the_life_of_a_seed(seed: int) -> None:
    simulate(seed)


def test_the_same_seed_gives_the_same_story() -> None:
    assert str(simulate(4)) == str(simulate(4))
