"""The JSON form of records: there and back, and what is no record."""

import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records.made import SCALARS, records

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.expression import Expression
from phaseline.records.formats.json_codec import from_json, to_json
from phaseline.records.record import Record
from phaseline.records.values import ErrorValue

DEFINED = SCALARS.filter(lambda value: value is not None)


@given(records(scalars=DEFINED))
def test_p85_the_json_of_a_record_gives_it_back(record: Record) -> None:
    assert from_json(json.loads(json.dumps(to_json(record)))) == record


def test_what_json_cannot_say_is_marked() -> None:
    record = Record(
        {
            "E": Expression("a + b"),
            "T": datetime(2026, 11, 21, tzinfo=UTC),
            "D": timedelta(days=1, seconds=1),
            "R": [math.inf, -math.inf, math.nan],
            "X": ErrorValue("why"),
            "U": None,
            "M": {"$expr": "text"},
            "I": {"U": None},
        }
    )
    assert to_json(record) == {
        "E": {"$expr": "a + b"},
        "T": {"$time": "2026-11-21T00:00:00+00:00"},
        "D": {"$duration": "1+00:00:01"},
        "R": [{"$real": "INF"}, {"$real": "-INF"}, {"$real": "NaN"}],
        "X": {"$error": "why"},
        "M": {"$record": {"$expr": "text"}},
        "I": {},
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["$expr", "$time", "$record"]), inner)
        ),
    )
)
def test_any_json_is_a_record_or_a_problem(content: object) -> None:
    try:
        found = from_json(content)
    except ProblemsError as error:
        codes = {problem.code for problem in error.problems}
    else:
        codes = set()
        assert isinstance(found, Record)
    assert codes <= {"PL-R001", "PL-R002", "PL-R004", "PL-R005", "PL-R006", "PL-R007", "PL-R011", "PL-R012"}


@pytest.mark.parametrize(
    ("content", "code", "word"),
    [
        ([], "PL-R012", "this is no object"),
        ({"A": {"$time": "soon"}}, "PL-R012", "'A' has a $time"),
        ({"A": {"B": {"$real": 3}}}, "PL-R012", "'A.B' has a $real"),
        ({"A": {"$record": 3}}, "PL-R012", "'A' is no object"),
        ({"A": [{"$expr": "a"}]}, "PL-R012", "expression in its list"),
        ({"A": object()}, "PL-R012", "JSON does not know"),
        ({"A": 1, "a": 2}, "PL-R002", "given twice"),
        ({"A": 2**64}, "PL-R011", "64 bits"),
        ({"": 1}, "PL-R011", "no name"),
        ({"A": {"$expr": "1 +"}}, "PL-R005", "ends too early"),
    ],
)
def test_what_is_no_record_is_told(content: object, code: str, word: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        from_json(content, file="nodes.json")
    (problem,) = caught.value.problems
    assert (problem.code, problem.place.file) == (code, "nodes.json")
    assert word in problem.message


def test_what_is_nested_too_deep_is_a_problem() -> None:
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(ProblemsError, match="PL-R011"):
        from_json({"A": deep})
