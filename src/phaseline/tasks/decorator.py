"""The decorator that declares a function as a task runner; planning reads the declaration from the source text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from phaseline.model.blueprint.operation_declaration import Declaration, declared

F = TypeVar("F", bound=Callable[..., Any])


def task(*, repeatable: bool = False) -> Callable[[F], F]:
    """Declare a task runner: a function that is called with a ``Task`` and returns an ``Outcome``.

    ``repeatable``: the runner may be called again after a crash during its call.
    """
    declaration = Declaration("task", repeatable=repeatable)

    def mark(function: F) -> F:
        return declared(function, declaration)

    return mark
