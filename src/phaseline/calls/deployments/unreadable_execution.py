"""Fail only the execution whose stored data cannot be read; the engine and all other executions continue.

Faults of the whole store, or of the machine, do not concern one execution and are raised as before. Walk: a row is
damaged, and an engine resumes open executions. Reading the row raises; ``Planning.alone`` sets the execution aside with the reason;
the scheduler gets the execution without a graph, asks what comes next, and is answered with the verdict that it failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow

DAMAGED = "PL-S003"


def is_alone(error: Exception) -> bool:
    """Whether an error concerns only this execution's stored data, not the store or the machine."""
    if not isinstance(error, ProblemsError):
        return True
    return error.problems[0].code == DAMAGED and isinstance(error.__cause__, ValueError)


def unreadable(row: ExecutionRow, why: str) -> Problem:
    """PL-S012, with what can be done without it."""
    name = row.deployment_name
    return Problem(
        "PL-S012",
        f"the execution {row.id} cannot be continued: {why}",
        f"look at its instances, which are unchanged: phaseline instances list -d {name}; start again from the beginning: phaseline uninstall -d {name}, "
        "then install it; look at the whole store: phaseline store check",
        Place(subject=row.id),
    )


def reason_of(error: Exception) -> str:
    """The text of an error; for a defect also its type and its place in the code."""
    if isinstance(error, ProblemsError):
        return error.problems[0].message
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
    return f"what is stored of it cannot be used ({type(error).__name__}: {error}{where})"
