"""An execution of which something stored cannot be read ends alone: the engine goes on, and everybody else's work with it.

Whatever is wrong with the store as a whole, or with this machine, is not the matter of one execution and is raised as
before. Walk: a row is damaged, and an engine takes up what is open. Reading it raises; ``Planning.alone`` sets it aside, and knows why, the
scheduler is given the execution without a graph and asks what comes next, and the answer is the verdict that it failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow

DAMAGED = "PL-S003"


def is_alone(error: Exception) -> bool:
    """Whether it is about a value that was read, and not about the store or the machine, which all executions share."""
    if not isinstance(error, ProblemsError):
        return True
    return error.problems[0].code == DAMAGED and isinstance(error.__cause__, ValueError)


def unreadable(row: ExecutionRow, why: str) -> Problem:
    """PL-S012, with what can be done without it."""
    name = row.deployment_name
    return Problem(
        "PL-S012",
        f"the execution {row.id} cannot go on: {why}",
        f"Its instances are as they were left: phaseline instances list -d {name}. Begin anew: phaseline uninstall -d {name}, "
        "then install it. Look at the whole store: phaseline store check",
        Place(subject=row.id),
    )


def reason_of(error: Exception) -> str:
    """What was met, and for our own eyes where."""
    if isinstance(error, ProblemsError):
        return error.problems[0].message
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"
    return f"what is stored of it cannot be used ({type(error).__name__}: {error}{where})"
