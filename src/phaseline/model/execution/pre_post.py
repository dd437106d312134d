"""Hook classes before and after an execution, and stage tasks of packages before and after its body (ADR 0022).

They are chosen when the execution is created and are stored with it. So a class or package that is installed, changed
or removed later does not change an execution that has begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Operation

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.packages.stage_tasks import Stages

HOOKS = "hooks."
"""What the name of every phase that calls a hook class begins with."""
PRE = "hooks.pre."
POST = "hooks.post."
UNDO = "hooks.undo."
"""The name of a hook class behind one of these is the name of the phase that calls it."""
HOOK_TIMEOUT_S = 60.0
"""The default time limit for one call of a hook class (source 2's successor: no limit)."""


class DeploymentCallKind(IntEnum):
    """The reason of a call for the deployment itself: the subjects of ``SubjectKind.DEPLOYMENT``."""

    BEFORE = 0
    COMPLETED = 1
    FAILED = 2
    CANCELED = 3
    TIMED_OUT = 4
    PRE_FAILED = 5

    @property
    def word(self) -> str:
        """What a hook reads as the reason, such as ``pre_failed``."""
        return (
            "cancelled"
            if self is DeploymentCallKind.CANCELED
            else "timeout"
            if self is DeploymentCallKind.TIMED_OUT
            else self.name.lower()
        )

    @property
    def is_failure(self) -> bool:
        """What source 2 calls ``is_stack_failure``."""
        return self > DeploymentCallKind.COMPLETED


@frozen
class PinnedHookClass:
    """A hook class as one execution calls it.

    ``name`` differs from those of all others of the execution. ``implementation`` is ``module:Class``, to be imported with
    ``folder`` in front where that is not empty. ``action`` is the word it is given, such as ``CREATE``. ``critical``: a
    post that fails makes the execution fail. ``options``: what it is made with. ``is_verified``: after each call
    it is looked whether it has changed the deployment behind its view. ``settings``: the settings of its package; secrets are sealed.
    """

    name: str
    implementation: str
    action: str
    key: str = ""
    folder: str = ""
    ordinal: float = 100
    has_pre: bool = True
    has_post: bool = True
    critical: bool = True
    timeout_s: float = HOOK_TIMEOUT_S
    is_heat: bool = False
    per_execution: bool = False
    options: Mapping[str, Value] = field(default_factory=dict)
    is_verified: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)


@frozen
class PrePost:
    """Everything that surrounds one execution. ``hooks`` in the order of their pre calls.

    ``taking_back``: the classes that are called round the taking back of what the execution made, if it fails and is to be
    taken back: an action of its own. ``stages``: the tasks of packages before and after the body. ``breakpoints``: those of
    its request, not stored here.
    """

    hooks: tuple[PinnedHookClass, ...] = ()
    taking_back: tuple[PinnedHookClass, ...] = ()
    stages: Stages | None = None
    breakpoints: tuple[Breakpoint, ...] = ()

    def hook(self, phase: str) -> PinnedHookClass | None:
        """The class that a phase calls; None if it calls none."""
        if not (self.hooks or self.taking_back):
            return None
        for prefix in (PRE, POST, UNDO):
            if phase.startswith(prefix):
                name = phase.removeprefix(prefix)
                return next((one for one in (*self.hooks, *self.taking_back) if one.name == name), None)
        return None

    def operation(self, phase: str) -> Operation | None:
        """The operation that a phase of breakpoints, hooks or stage tasks calls; None for any other phase."""
        if self.breakpoints:
            from phaseline.model.execution.breakpoints import PREFIX, pausing

            if phase.startswith(PREFIX):
                return pausing(phase, self.breakpoints)
        hook = self.hook(phase)
        if hook is not None:
            return Operation(phase, "function", implementation=hook.implementation)
        return None if self.stages is None else self.stages.operation(phase)
