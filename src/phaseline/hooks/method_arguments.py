"""The methods of hook classes and the number of their arguments, which are passed by position, whatever their names
are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

PRE, POST, PREVIEW = "do_pre_op", "do_post_op", "do_preview_op"
GIVEN = ("cnxt", "stack", "current_stack", "action")
ARGUMENTS: Mapping[str, tuple[str, ...]] = {PRE: GIVEN, POST: GIVEN, PREVIEW: GIVEN}
"""Required arguments of each hook method. A ``do_post_op`` may have a fifth argument: whether the action failed."""
POST_ARGUMENTS = 5
"""Number of arguments of a full ``do_post_op``: context, deployment, target, action, and whether the action failed."""


def takes(method: Callable[..., object], count: int) -> bool:
    """Return True if a method can be called with ``count`` arguments by position, or if its signature is unknown.

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
