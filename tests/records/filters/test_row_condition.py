"""Conditions on rows: what stores test, and what is evaluated, agree (LB4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.row_queries import NotThat, RowTest, verdict_of
from phaseline.records.filters.row_condition import RowCondition, record_of_row
from phaseline.records.values import ErrorValue

if TYPE_CHECKING:
    from phaseline.records.values import Value

Labels = Mapping[str, Sequence[str]]
ROW: Mapping[str, Value] = {"id": "Shop-1", "created_by": "ann", "site_name": None, "instance_count": 3}
LABELS: Labels = {"env": ["prod", "Test"], "team": ["web"]}


def evaluated(text: str, labels: Labels = LABELS) -> bool | ErrorValue:
    """Whether an expression holds, evaluated as a whole and not by tests."""
    condition = RowCondition(f"({text}) || (instance_count is undefined)", "deployments")
    assert condition.checks == ()
    return condition.judge_all([record_of_row(ROW, labels)], now=0)[0]


def by_tests(text: str, labels: Labels = LABELS) -> bool | ErrorValue:
    """Whether an expression holds, by tests as far as stores can make them."""

    def values_of(test: RowTest) -> Sequence[str]:
        value = ROW.get(test.name)
        return labels.get(test.name, ()) if test.is_label else () if value is None else (str(value),)

    condition = RowCondition(text, "deployments")
    if not all(verdict_of(check, values_of) for check in condition.checks):
        return False
    return condition.judge_all([record_of_row(ROW, labels)], now=0)[0]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('labels.env == "PROD"', True),
        ('labels.env is "PROD"', False),
        ('labels.env is "prod"', True),
        ('labels.env != "prod"', False),
        ('labels.env isnt "prod"', False),
        ('labels.env != "dev"', True),
        ('labels.none != "dev"', False),
        ('labels.none isnt "dev"', True),
        ("labels.none is undefined", True),
        ("labels.env isnt undefined", True),
        ('"test" in labels.env', True),
        ('labels.env in {"x", "TEST"}', True),
        ('labels.team in {"x"}', False),
        ('!(labels.none == "x")', False),
        ('labels["env"] == "prod" && startsWith(id, "Shop")', True),
        ('"ann" == created_by', True),
        ('contains(id, "op-") && endsWith(id, "1")', True),
        ('startsWith(id, "shop")', False),
        ('site_name == "x" || created_by == "ann"', True),
        ('!(site_name == "x") || id is undefined', False),
        ('instance_count > 2 && labels.team == "web"', True),
        ('startsWith(labels.team, "w")', True),
        ("true", True),
    ],
)
def test_lb4_an_expression_over_a_row(text: str, holds: bool) -> None:
    assert evaluated(text) is holds
    assert by_tests(text) is holds


SUBJECTS = st.sampled_from(["id", "created_by", "site_name", "labels.env", 'labels["team"]', "labels.none"])
TEXTS = st.sampled_from(['"prod"', '"PROD"', '"test"', '"web"', '"ann"', '"Shop-1"'])
LEAVES = st.one_of(
    st.builds("{} {} {}".format, SUBJECTS, st.sampled_from(["is", "isnt"]), st.one_of(TEXTS, st.just("undefined"))),
    st.builds("{} {} {}".format, SUBJECTS, st.sampled_from(["==", "!="]), TEXTS),
    st.builds("{}(id, {})".format, st.sampled_from(["startsWith", "contains"]), TEXTS),
    st.builds("{} in {{{}, {}}}".format, SUBJECTS, TEXTS, TEXTS),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda some: st.one_of(
        st.builds("!({})".format, some),
        st.builds("({} && {})".format, some, some),
        st.builds("({} || {})".format, some, some),
    ),
    max_leaves=6,
)
VALUES = st.lists(st.sampled_from(["prod", "Test", "web"]), min_size=1, unique=True)
SOME_LABELS = st.fixed_dictionaries({}, optional={"env": VALUES, "team": VALUES})


@given(EXPRESSIONS, SOME_LABELS)
def test_a63_tests_of_stores_and_evaluation_agree(text: str, labels: Labels) -> None:
    assert RowCondition(text, "deployments").rest is None
    assert by_tests(text, labels) is evaluated(text, labels)


def test_lb4_what_a_store_cannot_test_is_left() -> None:
    condition = RowCondition('labels.env == "prod" && instance_count > 3 && id != "\u00c4"', "deployments")
    assert condition.checks == (RowTest("env", "equals", "prod", is_label=True),)
    assert condition.rest is not None
    assert condition.rest.text == 'instance_count > 3 && id != "\u00c4"'
    assert condition.names == {"instance_count", "id"}
    assert RowCondition('!(id is "x")', "executions").checks == (NotThat(RowTest("id", "is", "x")),)


def test_lb4_a_row_that_is_already_out_is_not_examined() -> None:
    assert by_tests('created_by == "bob" && startsWith(instance_count, "x")') is False
    assert isinstance(by_tests('created_by == "ann" && startsWith(instance_count, "x")'), ErrorValue)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("foo == 1", "PL-C151", "no attribute 'foo'"),
        ('creatd_by == "x"', "PL-C151", "did you mean 'created_by'"),
        ("'values of labels' is undefined", "PL-C151", "no attribute"),
        ("id ==", "PL-R", ""),
        ("nofun(id)", "PL-R006", "no function"),
    ],
)
def test_lb4_a_mistake_is_told_with_the_way(text: str, code: str, told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        RowCondition(text, "deployments")
    (problem,) = caught.value.problems
    assert problem.code.startswith(code)
    assert told in f"{problem.message}; {problem.mend}"


def test_lb4_each_list_has_its_own_attributes() -> None:
    assert RowCondition('workflow == "install"', "executions").rest is None
    with pytest.raises(ProblemsError, match=r"workflow"):
        RowCondition('workflow == "install"', "deployments")
