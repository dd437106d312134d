"""What runs before and after the work of an execution: hook classes, and stage tasks of packages (ADR 0022).

They are chosen and stored when the execution is created. So a class or package that is installed, changed or removed
later does not affect an execution that has begun.
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
"""Prefix of the name of every phase that calls a hook class."""
PRE = "hooks.pre."
POST = "hooks.post."
UNDO = "hooks.undo."
"""Prefix of the names of phases that call a hook class for the undoing of an execution."""
OPENING, CLOSING, UNDOING = "pre hooks", "post hooks", "undo hooks"
"""Names with which the names of the rounds begin that call hook classes."""
HOOK_TIMEOUT_S = 60.0
"""Default time limit (s) for one call of a hook class; Heat had none."""


class DeploymentCallKind(IntEnum):
    """The reason of a call for the deployment as a whole (the number of a subject of ``SubjectKind.DEPLOYMENT``)."""

    BEFORE = 0
    COMPLETED = 1
    FAILED = 2
    CANCELED = 3
    TIMED_OUT = 4
    PRE_FAILED = 5

    @property
    def word(self) -> str:
        """The reason as a hook receives it, such as ``pre_failed``."""
        return (
            "cancelled"
            if self is DeploymentCallKind.CANCELED
            else "timeout"
            if self is DeploymentCallKind.TIMED_OUT
            else self.name.lower()
        )

    @property
    def is_failure(self) -> bool:
        """True if the hook is called because of a failure (``is_stack_failure`` in Heat)."""
        return self > DeploymentCallKind.COMPLETED


@frozen
class PinnedHookClass:
    """A hook class as one execution calls it.

    ``name`` is unique in the execution. ``implementation`` is ``module:Class``, imported with ``folder`` first in the
    search path unless that is empty. ``action`` is what the class receives, such as ``CREATE``. ``critical``: a failed
    post makes the execution fail. ``options`` are the arguments of its constructor. ``is_verified``: after each call
    the engine checks whether the class has changed the deployment. ``settings`` are those of its package; secrets are
    encrypted.
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
    """All that runs before and after one execution. ``hooks`` are in the order of their pre calls.

    ``taking_back`` has the classes that are called if the execution fails and its work is undone; for hooks the undoing
    is a separate action. ``stages`` has the tasks of packages. ``breakpoints`` come from the request and are not stored.
    """

    hooks: tuple[PinnedHookClass, ...] = ()
    taking_back: tuple[PinnedHookClass, ...] = ()
    stages: Stages | None = None
    breakpoints: tuple[Breakpoint, ...] = ()

    def hook(self, phase: str) -> PinnedHookClass | None:
        """Return the hook class that a phase calls, or None if it calls none."""
        if not (self.hooks or self.taking_back):
            return None
        for prefix in (PRE, POST, UNDO):
            if phase.startswith(prefix):
                name = phase.removeprefix(prefix)
                return next((one for one in (*self.hooks, *self.taking_back) if one.name == name), None)
        return None

    def operation(self, phase: str) -> Operation | None:
        """Return the operation that a phase of breakpoints, hooks or stage tasks calls, or None for any other phase."""
        if self.breakpoints:
            from phaseline.model.execution.breakpoints import PREFIX, pausing

            if phase.startswith(PREFIX):
                return pausing(phase, self.breakpoints)
        hook = self.hook(phase)
        if hook is not None:
            return Operation(phase, "function", implementation=hook.implementation)
        return None if self.stages is None else self.stages.operation(phase)
