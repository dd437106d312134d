"""Errors of functions that cannot be evaluated, each with the class that the ancestor would have raised (B40)."""

from __future__ import annotations

from phaseline.dsl.text.cloudify_errors import ANCESTOR
from phaseline.model.problems.problem import Problem, ProblemsError


def fail(code: str, message: str, mend: str, *, kind: str = "") -> ProblemsError:
    """The single problem described. ``kind`` takes the place of the class that the ancestor raises for its code."""
    number, usual = ANCESTOR.get(code, (None, None))
    return ProblemsError([Problem(code, message, mend, cloudify_code=number, cloudify_class=kind or usual)])
