"""Problems as text (code, place, the line with a caret, how to fix it), and as objects for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from phaseline.cli.streams.escaping import painted
from phaseline.model.problems.codes import problem_object
from phaseline.model.problems.problem import SHOWN_PROBLEMS, Problem
from phaseline.model.problems.text import Role, render_problem


def problem_text(problem: Problem) -> str:
    """Return one problem as text of several lines."""
    color = "red" if problem.severity == "error" else "yellow"

    def paint(text: str, role: Role) -> str:
        return painted(text, None if role == "mend" else color, bold=True)

    return render_problem(problem, paint)


def problems_text(problems: Sequence[Problem]) -> str:
    """Return at most ``SHOWN_PROBLEMS`` problems as text, and the number of all problems."""
    shown = [problem_text(problem) for problem in problems[:SHOWN_PROBLEMS]]
    errors = sum(problem.severity == "error" for problem in problems)
    if len(problems) > 1:
        rest = f", {SHOWN_PROBLEMS} of {len(problems)} shown" if len(problems) > SHOWN_PROBLEMS else ""
        warnings = len(problems) - errors
        counted = [f"{errors} problem{'s' * (errors != 1)}"] if errors else []
        counted += [f"{warnings} warning{'s' * (warnings != 1)}"] if warnings else []
        shown.append(", ".join(counted) + rest)
    return "\n\n".join(shown)


def problems_document(problems: Sequence[Problem]) -> str:
    """Return the JSON document ``{"problems": [...], "total": n}`` with at most ``SHOWN_PROBLEMS`` objects."""
    return json.dumps(
        {"problems": [problem_object(problem) for problem in problems[:SHOWN_PROBLEMS]], "total": len(problems)},
        indent=2,
        ensure_ascii=False,
    )


def usage_document(message: str) -> str:
    """Return a usage error of the command line in the form of ``problems_document``."""
    return problems_document([Problem("PL-C019", message, "see the help of the command: add --help")])


def defect_text(error: str, report: str) -> str:
    """Return the message to a user about a defect of the program."""
    return problem_text(
        Problem(
            "PL-C099",
            f"Phaseline itself failed: {error}",
            f"report this with the file {report}; stored work is kept; continue it: phaseline executions resume",
        )
    )
