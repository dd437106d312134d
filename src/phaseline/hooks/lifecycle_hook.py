"""The base class of hook classes: its methods do nothing, and its place is in the middle of the order.

Deriving from it is optional: any class with one of the methods works.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from phaseline.model.execution.pre_post import HOOK_TIMEOUT_S

if TYPE_CHECKING:
    from phaseline.hooks.hook_context import HookContext
    from phaseline.hooks.stack_view import StackView

ORDINAL = 100
"""The default for classes that declare none."""


class LifecycleHook:
    """Called before and after every action of every deployment; failing is raising an exception.

    One object is made without arguments (or with the ``options`` of the settings) and serves all threads, unless
    ``per_execution``. The names of the methods, the order of their arguments and the word ``stack`` for a deployment are those
    of source 2; arguments are given by position.
    """

    critical: bool = True
    """Whether a ``do_post_op`` that fails makes the execution fail; otherwise it is a warning."""
    timeout: float = HOOK_TIMEOUT_S
    """Seconds that one call may take; longer counts as a failure."""
    actions: Collection[str] = ()
    """The only actions it is called for, such as ``{"CREATE", "DELETE"}``; empty: for all."""
    nested: bool = True
    """True if it is called for deployments that are components of other deployments."""
    per_execution: bool = False
    """Whether each execution has an object of its own."""
    optional: bool = False
    """Whether a deployment may switch it off."""
    momentary: bool = False
    """Whether its ``do_pre_op`` is called once more when all others have agreed: they may have waited, and its answer holds only for the moment."""

    def do_pre_op(
        self, cnxt: HookContext, stack: StackView, current_stack: StackView | None = None, action: str | None = None
    ) -> None:
        """Called before anything of the action is done; what it raises, the action ends with, and nothing is done.

        ``current_stack`` is the new, wanted deployment in an update, rollback or restore, and None in every other action.
        """

    def do_post_op(
        self,
        cnxt: HookContext,
        stack: StackView,
        current_stack: StackView | None = None,
        action: str | None = None,
        is_stack_failure: bool = False,  # noqa: FBT001, FBT002 - source 2's own signature
    ) -> None:
        """Called once for each pre that did not fail: when the action has ended, or when a later class has refused it."""

    def do_preview_op(
        self, cnxt: HookContext, stack: StackView, current_stack: StackView | None = None, action: str | None = None
    ) -> None:
        """Called when a user previews the action; an exception is shown as a future refusal."""

    def get_ordinal(self) -> float:
        """Its place in the order: smaller ones are called earlier."""
        return ORDINAL
