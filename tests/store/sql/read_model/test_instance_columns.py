"""States of instances are counted from columns."""

import numpy as np

from phaseline.model.resources.resources import REMOVED
from phaseline.store.sql.read_model.instance_columns import (
    InstanceColumns,
    counts_from,
    names_from,
    why_unreadable,
)


def test_removed_instances_are_not_counted(tmp_path):
    columns = InstanceColumns(1, np.array([7, 7, REMOVED, 2], np.uint8), (), '{"gone":[1]}', b"")
    assert columns.counts(None, "blueprint") == ({7: 1, 2: 1}, {7: 1, 2: 1})


def test_names_of_states_are_in_their_order():
    assert names_from([(2, 1, "b"), (1, 0, "x"), (2, 0, "a")]) == {1: ("x",), 2: ("a", "b")}


def test_counts_that_cannot_be_read_are_none():
    assert counts_from('{"7": 2}') == {7: 2}
    assert counts_from("[]") is counts_from('{"x": 1}') is counts_from("{") is None


def test_the_reason_names_an_error_that_has_no_sentence():
    assert why_unreadable(ValueError("too short")) == "too short"
    assert why_unreadable(KeyError("names")) == "KeyError: 'names'"
