"""Ids of node instances (N5)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from phaseline.plan.topology import instance_ids as ids


@given(st.integers(0, 2**64), st.integers(0, 500))
def test_n5_suffixes_are_six_characters_and_different(seed, count):
    found = ids.suffixes(seed, count)
    assert len(set(found)) == count == len(found)
    assert all(re.fullmatch("[a-z0-9]{6}", text) for text in found)


def test_n5_the_same_seed_gives_the_same_ids_and_another_one_others():
    assert ids.suffixes(1, 50) == ids.suffixes(1, 50)
    assert not set(ids.suffixes(1, 50)).intersection(ids.suffixes(2, 50))


def test_n5_ids_that_are_taken_are_not_given_again():
    taken = frozenset(ids.suffixes(1, 20)[::2])
    found = ids.suffixes(1, 20, taken=taken)
    assert len(set(found)) == 20
    assert not taken.intersection(found)


def test_n5_many_ids_are_different_although_draws_collide():
    count = 300_000  # about twenty draws collide
    assert len(set(ids.suffixes(5, count))) == count
