"""Columns come back as they were, whatever they hold, and regular ones take no room."""

import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.model.graph.status import PAGE_ENTRIES
from phaseline.store.codec import columns

DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and one.tolist() == other.tolist()


@st.composite
def irregular(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    bounds = np.iinfo(dtype)
    values = st.integers(int(bounds.min), int(bounds.max))
    return np.array(draw(st.lists(values, max_size=60)), dtype)


@st.composite
def regular(draw: st.DrawFn) -> np.ndarray:
    """Runs that begin anywhere and step anyhow, overflowing included."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    run = st.tuples(st.integers(-5, 5), st.integers(-300, 300), st.integers(0, 200))
    runs = [
        first * 50 + step * np.arange(length, dtype=np.int64) for first, step, length in draw(st.lists(run, max_size=8))
    ]
    return np.concatenate([np.empty(0, np.int64), *runs]).astype(dtype)


@st.composite
def laned(draw: st.DrawFn) -> np.ndarray:
    """Edges of entries that have a few each: stretches of lanes that count up by steps of their own."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    lanes = st.lists(st.tuples(st.integers(-900, 900), st.integers(-9, 9)), min_size=1, max_size=5)
    stretches = draw(st.lists(st.tuples(lanes, st.integers(1, 300)), max_size=3))
    parts = [
        (np.array([first for first, _ in of]) + np.arange(rows)[:, None] * [step for _, step in of]).ravel()
        for of, rows in stretches
    ]
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(dtype)


@given(irregular())
def test_irregular_columns_come_back(column: np.ndarray) -> None:
    assert same(columns.decode(columns.encode(column)), column)


@given(regular())
def test_regular_columns_come_back(column: np.ndarray) -> None:
    assert same(columns.decode(columns.encode(column)), column)


@given(laned())
def test_columns_of_lanes_come_back(column: np.ndarray) -> None:
    assert same(columns.decode(columns.encode(column)), column)


def test_lanes_take_a_few_bytes() -> None:
    pairs = np.stack((np.full(40_000, 7), np.arange(40_000)), axis=1).ravel()
    column = np.concatenate((np.arange(50_000), pairs, np.arange(30_000).repeat(3))).astype(np.int32)
    data = columns.encode(column)
    assert len(data) < 1_000
    assert same(columns.decode(data), column)


def test_extremes_do_not_overflow_on_the_way() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    column = np.array([low] * 100 + [high] * 100 + [low] * 100)
    assert same(columns.decode(columns.encode(column)), column)


def test_a_progression_and_a_constant_take_a_few_bytes() -> None:
    count = 500_000
    assert len(columns.encode(np.arange(7, 7 + 3 * count, 3, dtype=np.int32))) < 32
    assert len(columns.encode(np.full(count, 9, np.uint16))) < 32


def test_the_columns_of_nine_steps_take_a_few_bytes_a_step() -> None:
    assert len(columns.encode(np.tile(np.arange(50_000, dtype=np.int32), 9))) < 9 * 20
    assert len(columns.encode(np.repeat(np.arange(9, dtype=np.uint16), 50_000))) < 9 * 20


def test_random_numbers_are_kept_as_they_are() -> None:
    column = np.random.default_rng(1).integers(-(2**31), 2**31, 50_000).astype(np.int32)
    data = columns.encode(column)
    assert len(data) < column.nbytes + 16
    assert same(columns.decode(data), column)


def test_a_repeating_pattern_is_squeezed() -> None:
    column = np.tile(np.array([5, 900, 3, 70_000, 2], np.int32), 20_000)
    data = columns.encode(column)
    assert len(data) < column.nbytes // 10
    assert same(columns.decode(data), column)


@pytest.mark.parametrize("column", [np.arange(4, dtype=np.int32), np.arange(400, dtype=np.int32)])
def test_what_was_read_may_be_changed(column: np.ndarray) -> None:
    found = columns.decode(columns.encode(column))
    found[:] = 0
    assert not found.any()


def test_every_second_value_of_an_array_is_a_column_too() -> None:
    column = np.random.default_rng(2).integers(0, 9, 1_000).astype(np.int32)[::2]
    assert same(columns.decode(columns.encode(column)), column)


def test_only_integers_are_columns() -> None:
    with pytest.raises(TypeError):
        columns.encode(np.array([1.5]))


@given(st.binary(max_size=80))
def test_any_bytes_are_a_column_or_refused(data: bytes) -> None:
    try:
        found = columns.decode(data)
    except ValueError:
        return
    assert found.ndim == 1


@given(regular() | laned(), st.data())
def test_a_cut_column_is_refused(column: np.ndarray, data: st.DataObject) -> None:
    encoded = columns.encode(column)
    cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(ValueError):
        columns.decode(cut)


def test_a_bomb_is_refused() -> None:
    body = zlib.compress(bytes(10_000_000))
    with pytest.raises(ValueError):
        columns.decode(b"\x02i4" + (100).to_bytes(4, "little") + body)


LONG = 5_000


@st.composite
def of_long_runs(draw: st.DrawFn) -> np.ndarray:
    """As a plan makes them: few runs, each long enough to be filled at once, some of which overflow."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    bounds = np.iinfo(dtype)
    first = draw(st.sampled_from([0, 7, int(bounds.max) - 20 * LONG, int(bounds.max), int(bounds.min)]))
    steps = draw(st.lists(st.integers(-3, 3), min_size=1, max_size=4))
    with np.errstate(over="ignore"):
        moves = np.repeat(np.array(steps, np.int64), LONG).cumsum()
        return (np.array([first % 2**64], np.uint64) + moves.astype(np.uint64)).astype(dtype)


@given(of_long_runs())
def test_columns_of_few_long_runs_come_back(column: np.ndarray) -> None:
    assert same(columns.decode(columns.encode(column)), column)


def test_a_regular_column_is_read_without_a_second_one_beside_it() -> None:
    """A million values that count up; as steps that are summed they took twice the memory and seven times the time."""
    encoded = columns.encode(np.arange(5, 1_000_005, dtype=np.int32))
    tracemalloc.start()
    column = columns.decode(encoded)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert column[-1] == 1_000_004
    assert peak < column.nbytes * 1.1


def test_a_regular_column_is_written_without_a_second_one_beside_it() -> None:
    """The steps between a million values, and where they change, took another 5 MB."""
    column = np.arange(1_000_000, dtype=np.int32)
    tracemalloc.start()
    columns.encode(column)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < column.nbytes * 0.3


def test_pages_that_were_not_written_are_zero() -> None:
    column = columns.from_pages(PAGE_ENTRIES + 3, [(1, b"\1\2\3")])
    assert column[:PAGE_ENTRIES].max() == 0
    assert column[PAGE_ENTRIES:].tolist() == [1, 2, 3]


def test_a_column_of_one_page_can_be_changed() -> None:
    column = columns.from_pages(2, [(0, b"\1\2")])
    column[0] = 9
    assert column.tolist() == [9, 2]


def test_a_page_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        columns.from_pages(2, [(0, b"\1\2\3")])


def test_instances_that_were_added_to_a_page_have_the_first_state() -> None:
    assert columns.states_from(4, [(0, b"\7\7")]).tolist() == [7, 7, 0, 0]
    assert columns.states_from(0, []).dtype == np.uint8
