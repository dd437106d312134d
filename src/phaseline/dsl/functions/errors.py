"""Errors of functions that cannot be evaluated, each with the exception class that Cloudify would raise (B40)."""

from __future__ import annotations

from phaseline.dsl.text.cloudify_errors import ANCESTOR
from phaseline.model.problems.problem import Problem, ProblemsError


def fail(code: str, message: str, mend: str, *, kind: str = "") -> ProblemsError:
    """Return an error with one problem. ``kind`` replaces the exception class that Cloudify raises for ``code``."""
    number, usual = ANCESTOR.get(code, (None, None))
    return ProblemsError([Problem(code, message, mend, cloudify_code=number, cloudify_class=kind or usual)])
