"""Changes of documents: what differs, and what becomes of a document when differences are merged."""

import copy as standard
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from phaseline.model.deployment.runtime_properties import Unstorable, copy, diff, is_same, merge, storable

SCALARS = some.none() | some.booleans() | some.integers(-3, 3) | some.floats(allow_nan=False) | some.text(max_size=2)
KEYS = some.sampled_from(["a", "b", "c"])
VALUES = some.recursive(
    SCALARS, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)
DOCUMENTS = some.dictionaries(KEYS, VALUES, max_size=3)


@given(DOCUMENTS, DOCUMENTS)
def test_c4_merging_the_difference_gives_the_later_document(before: Any, after: Any) -> None:
    kept = standard.deepcopy(before)
    written, removed = diff(before, after)
    assert is_same(merge(before, written, removed), after)
    assert is_same(before, kept), "documents are never changed in place"


@given(DOCUMENTS)
def test_equal_documents_differ_in_nothing(document: Any) -> None:
    assert diff(document, standard.deepcopy(document)) == ({}, ())


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_changes_of_different_keys_do_not_disturb_each_other(base: Any, one: Any, other: Any) -> None:
    mine = {**base, "mine": one}
    yours = {**base, "yours": other}
    merged = merge(merge(base, *diff(base, mine)), *diff(base, yours))
    assert is_same(merged, {**base, "mine": one, "yours": other})


@given(VALUES)
def test_a_copy_is_the_same_and_shares_nothing_changeable(value: Any) -> None:
    copied = copy(value)
    assert is_same(copied, value)
    assert not isinstance(value, dict | list) or copied is not value


def test_numbers_and_booleans_that_are_equal_have_changed_when_their_types_differ() -> None:
    assert diff({"a": 1}, {"a": True})[0] == {("a",): True}
    assert diff({"a": 1}, {"a": 1.0})[0] == {("a",): 1.0}
    assert diff({"a": [1]}, {"a": [True]})[0] == {("a",): [True]}


def test_an_emptied_mapping_is_written_as_such() -> None:
    assert diff({"a": {"b": 1}}, {"a": {}}) == ({("a",): {}}, ())


def test_merging_makes_levels_that_are_missing_and_removes_what_is_there() -> None:
    assert merge({"a": 1}, {("a", "b", "c"): 2}, [("x", "y"), ("a",)]) == {"a": {"b": {"c": 2}}}


def test_what_json_would_bring_back_can_be_stored() -> None:
    class Level(int): ...

    assert storable({"a": (1, 2), 3: {"b": Level(4)}}) == {"a": [1, 2], "3": {"b": 4}}


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes"])
def test_what_cannot_be_stored_is_named(value: object) -> None:
    with pytest.raises(TypeError, match=r"'a\[0\]\.b' is of type"):
        storable({"a": [{"b": value}]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_know_cannot_be_stored(value: float) -> None:
    with pytest.raises(Unstorable, match=r"^'load\[1\]' is -?(nan|inf), a number that JSON does not know"):
        storable([1, value], "load")


def test_nan_that_is_stored_already_has_not_changed() -> None:
    stored = {"load": [1.0, float("nan")], "limit": float("inf")}
    assert diff(stored, {**stored, "load": [1.0, float("nan")], "more": 1}) == ({("more",): 1}, ())


def test_what_is_no_mapping_and_no_list_is_the_same_in_a_copy() -> None:
    class Level(int): ...

    level = Level(4)
    copied = copy({"a": [level]})
    assert isinstance(copied, dict)
    assert copied["a"][0] is level
