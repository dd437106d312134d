"""The base class of hook classes: its methods do nothing, and its ordinal is in the middle of the usual ones.

Deriving from it is optional: any class with one of the hook methods works.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from phaseline.model.execution.pre_post import HOOK_TIMEOUT_S

if TYPE_CHECKING:
    from phaseline.hooks.hook_context import HookContext
    from phaseline.hooks.stack_view import StackView

ORDINAL = 100
"""Ordinal of hook classes that declare none."""


class LifecycleHook:
    """Base class of hooks, called before and after every action of every deployment.

    A method fails by raising an exception.

    One object is made without arguments (or with the ``options`` of the settings) and used by all threads, unless
    ``per_execution`` is True. The names of the methods, the order of their arguments and the word ``stack`` for a
    deployment are those of the Heat document (source 2). Arguments are passed by position.
    """

    critical: bool = True
    """True if a failing ``do_post_op`` makes the execution fail; otherwise the failure is only a warning."""
    timeout: float = HOOK_TIMEOUT_S
    """Seconds that one call may take; a call that takes longer has failed."""
    actions: Collection[str] = ()
    """The actions for which the hook is called, such as ``{"CREATE", "DELETE"}``; empty for all actions."""
    nested: bool = True
    """True if the hook is also called for deployments that are components of other deployments."""
    per_execution: bool = False
    """True if each execution gets its own object of the class."""
    optional: bool = False
    """True if a deployment may disable the hook."""
    momentary: bool = False
    """True if ``do_pre_op`` is called a second time, after all other hooks have agreed.

    For an answer that soon becomes outdated: the other hooks may have waited for hours.
    """

    def do_pre_op(
        self, cnxt: HookContext, stack: StackView, current_stack: StackView | None = None, action: str | None = None
    ) -> None:
        """Check or prepare an action before anything of it is done.

        If this raises an exception, the action ends without effect.

        ``current_stack`` is the new, wanted deployment in an update, rollback or restore, and None in every other
        action.
        """

    def do_post_op(
        self,
        cnxt: HookContext,
        stack: StackView,
        current_stack: StackView | None = None,
        action: str | None = None,
        is_stack_failure: bool = False,  # noqa: FBT001, FBT002 - source 2's own signature
    ) -> None:
        """React to the end of an action, or to its refusal by a later hook.

        Called once for each ``do_pre_op`` that did not fail.
        """

    def do_preview_op(
        self, cnxt: HookContext, stack: StackView, current_stack: StackView | None = None, action: str | None = None
    ) -> None:
        """Check an action that a user previews.

        An exception is shown to the user as a refusal that the action would meet.
        """

    def get_ordinal(self) -> float:
        """Return the number by which hooks are sorted: hooks with smaller numbers are called earlier."""
        return ORDINAL
