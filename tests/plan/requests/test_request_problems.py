"""A problem survives as an answer, and each refusal has its code and its remedy."""

import pytest

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.model.rows.rows import ExecutionRow
from phaseline.plan.requests.request_problems import (
    busy,
    problem_answer,
    problem_of,
    raise_if_completed,
    raise_if_deleted,
    raise_if_ended,
    raise_if_not_cleanable,
)

ROW = ExecutionRow(1, "install-1", 1, "shop", Request("install"), ExecutionStatus.RUNNING, "", 0, 1, 1, 0, "me")


def ended(status: ExecutionStatus) -> ExecutionRow:
    return altered(ROW, status=status, ended_at=2)


def test_a_problem_survives_as_an_answer() -> None:
    problem = Problem("PL-C017", "it has ended", "Look.", Place(subject="install-1"))
    assert problem_of(problem_answer(problem)) == problem
    assert problem_of({"done": True}) is None


@pytest.mark.parametrize(
    ("status", "mend"),
    [
        (ExecutionStatus.FAILED, "executions retry"),
        (ExecutionStatus.CANCELED, "executions retry"),
        (ExecutionStatus.COMPLETED, "executions show"),
    ],
)
def test_an_ended_execution_is_refused_with_what_can_still_be_done(status: ExecutionStatus, mend: str) -> None:
    raise_if_ended(ROW, "nothing is left")
    with pytest.raises(ProblemsError, match="PL-C017") as caught:
        raise_if_ended(ended(status), "nothing is left")
    assert mend in caught.value.problems[0].mend


def test_what_is_fine_is_not_refused() -> None:
    raise_if_not_cleanable(ROW)
    raise_if_completed(ended(ExecutionStatus.FAILED))
    with pytest.raises(ProblemsError, match="PL-C017"):
        raise_if_completed(ended(ExecutionStatus.COMPLETED))


def test_a_deleted_deployment_and_a_busy_one_are_refused() -> None:
    with pytest.raises(ProblemsError, match="PL-C010"):
        raise_if_deleted(None, ROW)
    assert busy(ROW, altered(ROW, id="heal-2")).problems[0].code == "PL-C016"


def test_an_execution_with_hooks_is_not_cleaned_up_before_they_know_its_end() -> None:
    surrounded = altered(ROW, request=altered(ROW.request, is_surrounded=True), status=ExecutionStatus.ATTENTION)
    with pytest.raises(ProblemsError, match="PL-C017") as caught:
        raise_if_not_cleanable(surrounded)
    assert "executions retry install-1" in caught.value.problems[0].mend
    raise_if_not_cleanable(altered(surrounded, status=ExecutionStatus.FAILED, ended_at=2))
