"""Ids of graphs and batches name the shard that made them."""

import doctest
from itertools import pairwise

import pytest

from phaseline.model.rows import shard_ids
from phaseline.model.rows.shard_ids import LAST_SHARD, first_id, last_id, next_id, number_of, shard_of

SIGNED_64_BIT = (1 << 63) - 1


def test_rf7_ids_of_the_first_shard_are_plain_numbers() -> None:
    assert (first_id(0), next_id(0, None), next_id(0, 0), next_id(0, 41)) == (1, 1, 1, 42)


@pytest.mark.parametrize("shard", [0, 1, 2, 1_000, LAST_SHARD])
def test_rf7_an_id_names_its_shard_and_its_number(shard: int) -> None:
    for number in (1, 2, 1_000_000, (1 << 48) - 1):
        id = first_id(shard) + number - 1
        assert (shard_of(id), number_of(id)) == (shard, number)


def test_rf7_ids_of_different_shards_never_meet_and_fit_into_a_column() -> None:
    shards = (0, 1, 2, LAST_SHARD)
    for lower, higher in pairwise(shards):
        assert last_id(lower) < first_id(higher)
    assert last_id(LAST_SHARD) == SIGNED_64_BIT


@pytest.mark.parametrize("shard", [-1, LAST_SHARD + 1])
def test_rf7_other_numbers_are_no_shards(shard: int) -> None:
    with pytest.raises(ValueError, match="shards are numbered"):
        first_id(shard)


def test_the_examples_are_right() -> None:
    assert doctest.testmod(shard_ids).failed == 0
