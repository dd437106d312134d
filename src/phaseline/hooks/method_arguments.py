"""The methods of hook classes and how many arguments they take: they are given by position, whatever their names are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

PRE, POST, PREVIEW = "do_pre_op", "do_post_op", "do_preview_op"
GIVEN = ("cnxt", "stack", "current_stack", "action")
ARGUMENTS: Mapping[str, tuple[str, ...]] = {PRE: GIVEN, POST: GIVEN, PREVIEW: GIVEN}
"""{method: its required parameters}; a ``do_post_op`` with one more receives whether the action failed."""
POST_ARGUMENTS = 5
"""Context, deployment, target, action, and whether the action failed."""


def takes(method: Callable[..., object], count: int) -> bool:
    """Whether it can be called with so many arguments by position; of what cannot be looked at it is assumed.

    >>> takes(lambda a, b: None, 2), takes(lambda a: None, 2), takes(lambda *all: None, 5)
    (True, False, True)
    """
    import inspect  # 10 ms, only where there are hook classes

    try:
        inspect.signature(method).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # it has no signature, as things made of C may
        return True
    return True
