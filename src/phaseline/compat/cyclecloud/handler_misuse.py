"""Errors for wrong uses of the handler by a plugin; each shows the line of the plugin."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path

from phaseline.calls.protocol.plugin_boundary import shown
from phaseline.model.problems.problem import Place, Problem, ProblemsError

OURS = f"{Path(__file__).parents[2]}{os.sep}"
"""Folder of Phaseline's own code; a line of a traceback in any other folder belongs to the plugin."""


class HandlerMisuse(ProblemsError):
    """Raised by a method of the handler that is used wrongly, before anything is changed."""

    def __init__(self, code: str, message: str, mend: str) -> None:
        """Make the error; its place is the plugin's line, found on the call stack."""
        super().__init__([Problem(code, message, mend, _place())])


class NotInRun(HandlerMisuse):
    """Raised if a plugin marks an object that is no resource of this run (R1)."""

    def __init__(self, method: str, given: object) -> None:
        """Make the error. ``method``: the handler's method; ``given``: the wrong object."""
        name = given.get("Name") if hasattr(type(given), "folded") else None  # type: ignore[attr-defined]  # a record
        what = f"'{name}'" if name else f"a {type(given).__name__}"
        super().__init__(
            "PL-O030",
            f"{method}() was given {what}, which is no resource of this run",
            "give it resources of handler.getResources() of this call; a resource of an earlier call is not one of them",
        )


class RunFinished(HandlerMisuse):
    """Raised if a plugin uses the handler after the run has ended, when marks can have no effect."""

    def __init__(self, method: str) -> None:
        """Make the error. ``method``: the handler's method that was called."""
        super().__init__(
            "PL-O031",
            f"{method}() was called after the run had ended",
            "let threads that handle() starts end before it returns, or look after them in a later run",
        )


def wrong_delay(method: str, given: object) -> HandlerMisuse:
    """Return the error for an invalid delay."""
    return HandlerMisuse(
        "PL-O032",
        f"{method}() was given the delay {shown(given)}",
        "give it seconds, or a timedelta, from 0 to 30 days",
    )


def _place() -> Place:
    """Return the innermost line of plugin code on the call stack."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Place(file, line, 1, text=linecache.getline(file, line).rstrip())
