"""Functions that cannot be evaluated, told with the class that the ancestor would have raised (B40)."""

from __future__ import annotations

from phaseline.dsl.ancestor import ANCESTOR
from phaseline.model.problem import Problem, ProblemsError


def fail(code: str, message: str, mend: str) -> ProblemsError:
    """The single problem described."""
    number, kind = ANCESTOR.get(code, (None, None))
    return ProblemsError([Problem(code, message, mend, cloudify_code=number, cloudify_class=kind)])
