"""Details that were read together are decoded one by one."""

import pytest

from phaseline.model.rows.details import Decoded, DetailQuery


def test_a_value_is_decoded_once_and_when_it_is_used():
    calls = []
    one = Decoded(lambda: calls.append(1) or "value")
    assert not calls
    assert (one(), one()) == ("value", "value")
    assert len(calls) == 1


def test_a_damaged_value_raises_when_it_is_used():
    one = Decoded(lambda: int("x"))
    for _ in range(2):
        with pytest.raises(ValueError, match="x"):
            one()


def test_a_query_wants_nothing_unless_it_is_told():
    assert not any((DetailQuery().graphs_of, DetailQuery().batches_of, DetailQuery().open_batches))
