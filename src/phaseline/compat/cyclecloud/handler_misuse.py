"""Wrong uses of the handler by a plugin: a problem with the line of the plugin."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path

from phaseline.calls.protocol.plugin_boundary import shown
from phaseline.model.problems.problem import Place, Problem, ProblemsError

OURS = f"{Path(__file__).parents[2]}{os.sep}"
"""The folder of the code that calls plugins and is called by them."""


class HandlerMisuse(ProblemsError):
    """An error that methods of the handler raise before anything is changed."""

    def __init__(self, code: str, message: str, mend: str) -> None:
        """The place is found on the stack."""
        super().__init__([Problem(code, message, mend, _place())])


class NotInRun(HandlerMisuse):
    """The object to mark is no resource of this run (R1)."""

    def __init__(self, method: str, given: object) -> None:
        """``given``: that object."""
        name = given.get("Name") if hasattr(type(given), "folded") else None  # type: ignore[attr-defined]  # a record
        what = f"'{name}'" if name else f"a {type(given).__name__}"
        super().__init__(
            "PL-O030",
            f"{method}() was given {what}, which is no resource of this run",
            "give it resources of handler.getResources() of this call; a resource of an earlier call is not one of them",
        )


class RunFinished(HandlerMisuse):
    """The error for marks after the run has ended: they cannot count any more."""

    def __init__(self, method: str) -> None:
        """``method`` of the handler."""
        super().__init__(
            "PL-O031",
            f"{method}() was called after the run had ended",
            "let threads that handle() starts end before it returns, or look after them in a later run",
        )


def wrong_delay(method: str, given: object) -> HandlerMisuse:
    """The error for an invalid delay."""
    return HandlerMisuse(
        "PL-O032",
        f"{method}() was given the delay {shown(given)}",
        "give it seconds, or a timedelta, from 0 to 30 days",
    )


def _place() -> Place:
    """The innermost line of plugin code on the stack."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Place(file, line, 1, text=linecache.getline(file, line).rstrip())
