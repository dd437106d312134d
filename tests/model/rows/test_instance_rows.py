"""Which instances of many deployments are on a page."""

import numpy as np

from phaseline.model.rows.instance_rows import PageOfInstances, number_of_state
from phaseline.model.rows.row_queries import InstanceQuery

COUNTS = {"a": 3, "b": 0, "c": 2}


def page(**fields):
    """[(deployment, number)] of one page."""
    wanted = InstanceQuery(**fields)
    found = PageOfInstances(wanted)
    names = sorted(COUNTS, reverse=wanted.is_last_first)
    shown = [name for name in names if found.may_have(name, COUNTS[name])]
    rows = [(name, number) for name in shown for number in found.take(name, np.arange(COUNTS[name]))]
    assert found.total == 5
    return rows


def test_a_page_begins_after_the_last_row_of_the_page_before():
    assert page() == [("a", 0), ("a", 1), ("a", 2), ("c", 0), ("c", 1)]
    assert page(limit=2) == [("a", 0), ("a", 1)]
    assert page(limit=2, after=("a", 1)) == [("a", 2), ("c", 0)]
    assert page(limit=2, after=("b", 7)) == [("c", 0), ("c", 1)]
    assert page(limit=0) == []


def test_a_page_may_begin_with_the_last_rows():
    assert page(limit=3, is_last_first=True) == [("c", 1), ("c", 0), ("a", 2)]
    assert page(limit=3, is_last_first=True, after=("c", 0)) == [("a", 2), ("a", 1), ("a", 0)]


def test_states_of_the_life_cycle_have_the_same_number_in_each_deployment():
    assert number_of_state("started", ("Started",)) == number_of_state("started", ())
    assert number_of_state("Started", ()) == -1
