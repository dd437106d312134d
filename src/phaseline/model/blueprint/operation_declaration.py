"""The declaration of how a plugin function wants to be called, and the decorator that attaches it.

A plugin consists of plain functions with declarations; there is no class to derive from. The decorator only attaches
the declaration. Planning reads it from the source text without running the code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from phaseline.lang.fast_dataclasses import frozen

DECLARATION_ATTRIBUTE = "__phaseline_operation__"
MAX_BATCH = 10_000
"""Most members of one call, unless the operation declares another number."""
LARGEST_BATCH = 1_000_000
"""Largest ``max_batch`` that can be declared; in practice it means all members."""


@frozen
class Declaration:
    """How a plugin function wants to be called.

    ``flavour`` gives the arguments: ``native`` means a batch (``bulk``) or an item; ``cloudify`` means ``ctx`` and the
    inputs as keywords; ``phase`` means a handler (``bulk``), or a resource and its phase data; ``task`` means a task of
    a package. ``repeatable`` functions may be called again after a crash during which they ran. ``batch_key`` is a
    dotted path; members with different values of it never share a call. ``concurrency`` is how many calls of a bulk
    function may run at the same time for each key (0: the default, 1).
    """

    flavour: Literal["native", "cloudify", "phase", "task"] = "native"
    bulk: bool = False
    repeatable: bool = False
    max_batch: int = MAX_BATCH
    batch_key: str | None = None
    concurrency: int = 0


F = TypeVar("F", bound=Callable[..., Any])


@overload
def operation(function: F, /) -> F: ...
@overload
def operation(
    *,
    bulk: bool = ...,
    repeatable: bool = ...,
    max_batch: int = ...,
    batch_key: str | None = ...,
    concurrency: int = ...,
) -> Callable[[F], F]: ...
def operation(
    function: Callable[..., Any] | None = None,
    /,
    *,
    bulk: bool = False,
    repeatable: bool = False,
    max_batch: int = MAX_BATCH,
    batch_key: str | None = None,
    concurrency: int = 0,
) -> Any:
    """Mark a function as a native operation and return it.

    With ``bulk`` the function is called once with a batch of all items that are ready, across executions and
    deployments; without ``bulk`` it is called once for each item. See ``Declaration`` for the arguments.

    >>> @operation(bulk=True, repeatable=True)
    ... def create(batch): ...
    >>> declaration_of(create).bulk
    True
    """
    declaration = Declaration(
        bulk=bulk,
        repeatable=repeatable,
        max_batch=max(1, min(max_batch, LARGEST_BATCH)),
        batch_key=batch_key,
        concurrency=concurrency,
    )

    def mark(target: Callable[..., Any]) -> Callable[..., Any]:
        return declared(target, declaration)

    return mark if function is None else mark(function)


def declared(function: F, declaration: Declaration) -> F:
    """Attach a declaration to a function and return the function, for callers that need no decorator."""
    setattr(function, DECLARATION_ATTRIBUTE, declaration)
    return function


def phase_declaration(arguments: int, form: str = "") -> Declaration:
    """Return the declaration of a phase plugin's function.

    A function with two arguments gets a resource and its phase data, any other function gets a handler. ``form`` is
    ``handle`` or ``handle_one`` if the definition or the function's name decides this instead.
    """
    is_each = form == "handle_one" or (form != "handle" and arguments == 2)
    return Declaration("phase", bulk=not is_each, repeatable=True)


def as_phase(function: F, form: str = "") -> F:
    """Declare a function as a phase function, because a phase definition names it, and return it.

    An existing declaration is kept. ``form`` is ``handle`` or ``handle_one`` if the definition names it.

    >>> def look(resource, data): ...
    >>> declaration_of(as_phase(look)).bulk
    False
    """
    if declaration_of(function) is not None:
        return function
    import inspect  # 10 ms that most commands need not pay

    arguments = len(inspect.signature(function).parameters)
    return declared(function, phase_declaration(arguments, form or getattr(function, "__name__", "")))


def declaration_of(function: Callable[..., Any]) -> Declaration | None:
    """Return the declaration the decorator attached, or None for an undecorated function."""
    found = getattr(function, DECLARATION_ATTRIBUTE, None)
    return found if isinstance(found, Declaration) else None
