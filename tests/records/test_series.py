"""Series: a fixed order, filters by expression and by function, groups."""

import pytest

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.expression import Expression
from phaseline.records.record import Record
from phaseline.records.series import Series

NODES = Series(
    Record(attributes)
    for attributes in (
        {"Name": "a", "Cores": 2, "Region": "east"},
        {"Name": "b", "Cores": 8, "Region": "west"},
        {"Name": "c", "Cores": 4, "Region": "east"},
        {"Cores": "many", "Tags": ["x"]},
    )
)


def test_a_series_is_a_sequence() -> None:
    assert (len(NODES), NODES.size(), bool(NODES), NODES.isEmpty()) == (4, 4, True, False)
    assert NODES.get(1) is NODES[1] is list(NODES)[1]
    assert NODES[1:3].names() == ["b", "c"]
    assert isinstance(NODES[1:], Series)
    assert NODES[-1] in NODES
    assert not Series([])
    assert Series([]).is_empty()
    assert repr(NODES) == "<Series of 4: a, b, c, None>"
    assert repr(Series(list(NODES) * 2)) == "<Series of 8: a, b, c, None, a, …>"


def test_filters_take_text_an_expression_or_a_function() -> None:
    assert NODES.filter("Cores >= 4").names() == ["b", "c"]
    assert NODES.filter(Expression('Region == "EAST"')).names() == ["a", "c"]
    assert NODES.filter(lambda node: node["Cores"] == 2).names() == ["a"]
    with pytest.raises(ProblemsError):
        NODES.filter("Cores >")


def test_groups_are_by_value_in_the_order_of_the_first() -> None:
    groups = NODES.groupBy("Region")
    assert [(key, group.names()) for key, group in groups.items()] == [
        ("east", ["a", "c"]),
        ("west", ["b"]),
        (None, [None]),
    ]
    assert list(NODES.group_by("Tags")) == [None, '{"x"}']
    numbers = Series(Record({"N": number}) for number in (1, 1.0, float("nan"), float("nan")))
    assert [len(group) for group in numbers.group_by("N").values()] == [2, 2]
