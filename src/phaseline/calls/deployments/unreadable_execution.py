"""Failing only the execution whose stored data cannot be read; the engine and all other executions continue.

An error of the whole store or of the machine is not caught here. Example: an engine resumes open executions, and one
row is damaged. Reading it raises an error; ``Planning.alone`` catches it and records the reason. The scheduler gets
the execution without a graph and asks for its next step. The answer is the verdict that the execution has failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow

DAMAGED = "PL-S003"


def is_alone(error: Exception) -> bool:
    """Return True if an error concerns only the stored data of one execution, not the store or the machine."""
    if not isinstance(error, ProblemsError):
        return True
    return error.problems[0].code == DAMAGED and isinstance(error.__cause__, ValueError)


def unreadable(row: ExecutionRow, why: str) -> Problem:
    """Return PL-S012, with ways for the user to continue without the execution."""
    name = row.deployment_name
    return Problem(
        "PL-S012",
        f"the execution {row.id} cannot be continued: {why}",
        f"look at its instances, which are unchanged: phaseline instances list -d {name}; start again from the beginning: phaseline uninstall -d {name}, "
        "then install it; look at the whole store: phaseline store check",
        Place(subject=row.id),
    )


def reason_of(error: Exception) -> str:
    """Return the text of an error; for a defect of our code, also the exception type and the line that raised it."""
    if isinstance(error, ProblemsError):
        return error.problems[0].message
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
    return f"what is stored of it cannot be used ({type(error).__name__}: {error}{where})"
