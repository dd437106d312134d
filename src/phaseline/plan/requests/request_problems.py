"""The problems with which the owner of a store refuses a request about an execution, and their form in its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow


def problem_answer(problem: Problem) -> dict[str, Value]:
    """Return the answer to a request that reports a problem."""
    subject = problem.place.subject
    told: dict[str, Value] = {
        "code": problem.code,
        "message": problem.message,
        "mend": problem.mend,
        "subject": subject,
    }
    return {"done": False, "problem": told}


def problem_of(answer: Mapping[str, Any]) -> Problem | None:
    """Return the problem that an answer reports; None if it reports none."""
    told = answer.get("problem")
    if told is None:
        return None
    return Problem(told["code"], told["message"], told["mend"], Place(subject=told["subject"]))


def raise_if_ended(row: ExecutionRow, why: str) -> None:
    """Raise PL-C017 if the execution has ended. ``why`` completes the message."""
    if row.status.is_ended:
        raise _unfit(row, why)


def raise_if_completed(row: ExecutionRow) -> None:
    """Raise PL-C017 if the execution is completed, so that nothing in it has failed."""
    if row.status is ExecutionStatus.COMPLETED:
        raise _unfit(row, "nothing in it failed")


def raise_if_not_cleanable(row: ExecutionRow) -> None:
    """Raise PL-C017 if an execution with hooks waits for a user's decision, so that it cannot be cleaned up yet.

    Its post hooks must first be given how the execution has ended.
    """
    if row.request.is_surrounded and not row.status.is_ended:
        message = f"the execution {row.id} is {row.status.value}: it cannot be cleaned up before its hooks know its end"
        mend = f"decide about its calls: phaseline executions retry {row.id}, executions complete or cancel; then retry it with --clean"
        raise problem_error("PL-C017", message, mend, subject=row.id)


def raise_if_deleted(now: DeploymentRow | None, row: ExecutionRow) -> None:
    """Raise PL-C010 if the deployment of an execution was deleted.

    ``now`` is the stored row of the deployment that has its name at present; None if there is none.
    """
    if now is None or now.number != row.deployment:
        message = f"the deployment '{row.deployment_name}' of the execution {row.id} is deleted"
        raise problem_error("PL-C010", message, "install it again: phaseline install FILE", subject=row.id)


def busy(row: ExecutionRow, other: ExecutionRow) -> ProblemsError:
    """Return the error PL-C016: an execution cannot continue while another execution has a claim on its instances."""
    mend = f"wait until that execution has ended, or cancel it: phaseline executions follow {other.id}"
    message = f"the execution {other.id} of the deployment '{row.deployment_name}' has a claim on the same instances"
    return problem_error("PL-C016", message, mend, subject=row.deployment_name)


def _unfit(row: ExecutionRow, why: str) -> ProblemsError:
    mends = {
        ExecutionStatus.FAILED: f"try again what failed: phaseline executions retry {row.id}",
        ExecutionStatus.CANCELED: f"continue where it was canceled: phaseline executions retry {row.id}",
    }
    mend = mends.get(row.status, f"look at the execution: phaseline executions show {row.id}")
    return problem_error("PL-C017", f"the execution {row.id} is {row.status.value}: {why}", mend, subject=row.id)
