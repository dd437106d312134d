"""The check of a value against a shape."""

from phaseline.dsl.grammar.shape_check import BROKEN, ShapeCheck
from phaseline.dsl.grammar.tables import TEXT, WHOLE, Each, Table, TableKey, TableRows
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.model.blueprint.blueprint import Value

TABLE = Table("a thing", {"name": TableKey(TEXT, is_required=True), "count": TableKey(WHOLE, since=3)})


def checked(shape: Each | TableRows | Table, value: Value, minor: int | None = 5) -> tuple[object, list[str]]:
    report = ProblemReport()
    good = ShapeCheck(report, minor).check(shape, value, ElementPath(Document("a.yaml", ""), ()))
    return good, [problem.code for problem in report.problems()]


def test_a_value_without_fault_comes_back_as_the_very_same_object() -> None:
    value = {"one": {"name": "x", "count": 3}}
    good, problems = checked(Each(TABLE), value)
    assert good is value
    assert problems == []


def test_what_is_wrong_is_left_out_so_that_the_rest_can_be_looked_at() -> None:
    assert checked(Each(TABLE), {"one": {"name": "x"}, "two": {"count": 3}}) == ({"one": {"name": "x"}}, ["PL-B016"])
    assert checked(TableRows(TEXT), ["x", 3]) == (["x"], ["PL-B015"])


def test_a_key_of_a_later_version_is_reported() -> None:
    assert checked(TABLE, {"name": "x", "count": 3}, minor=2)[1] == ["PL-B013"]


def test_a_value_of_which_nothing_can_be_kept_is_broken() -> None:
    assert checked(TABLE, []) == (BROKEN, ["PL-B015"])
