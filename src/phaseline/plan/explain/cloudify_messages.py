"""The sentences and states that the ancestor shows around each operation of install and uninstall (W20, W23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.health.checks import UPDATE_RELATIONSHIP, UPDATES
from phaseline.plan.graph import operation_names as op
from phaseline.plan.workflows.uninstall import DELETED, NOT_RUNNING, NOT_THERE, STOPPED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from phaseline.model.blueprint.blueprint import Value


@frozen
class Part:
    """An operation with the lines before and after it, in order; ``= `` begins a state, everything else is a sentence.

    ``frame``: the lines where the operation has no entry; for a part without an operation, its lines.
    """

    operation: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    frame: tuple[str, ...] = ()


@frozen
class MessageScript:
    """The parts of a workflow in order; ``nothing_parts`` are told of an instance for which nothing is called."""

    parts: tuple[Part, ...]
    nothing_parts: tuple[Part, ...] = ()

    @property
    def nothing(self) -> MessageScript:
        """What is told when nothing is called."""
        return MessageScript(self.nothing_parts or self.parts)


INSTALL_TALE = MessageScript(
    (
        Part(frame=("= initializing",)),
        Part(
            op.VALIDATE_CREATION,
            ("Validating node instance before creation",),
            ("Node instance validated before creation",),
            ("Validating node instance before creation: nothing to do",),
        ),
        Part(
            op.PRECREATE,
            ("Precreating node instance",),
            ("Node instance precreated",),
            ("Precreating node instance: nothing to do",),
        ),
        Part(
            op.CREATE,
            ("Creating node instance", "= creating"),
            ("Node instance created", "= created"),
            ("Creating node instance: nothing to do",),
        ),
        Part(op.PRECONFIGURE, ("Pre-configuring relationships",), ("Relationships pre-configured",)),
        Part(
            op.CONFIGURE,
            ("= configuring", "Configuring node instance"),
            ("= configured", "Node instance configured"),
            ("Configuring node instance: nothing to do",),
        ),
        Part(op.POSTCONFIGURE, ("Post-configuring relationships",), ("Relationships post-configured",)),
        Part(
            op.START,
            ("= starting", "Starting node instance"),
            (),
            ("Starting node instance: nothing to do",),
        ),
        Part(op.GET_STATE),
        Part(op.MONITORING_AGENT_INSTALL),
        Part(op.MONITORING_AGENT_START),
        Part(
            op.POSTSTART,
            ("Poststarting node instance",),
            ("Node instance poststarted",),
            ("Poststarting node instance: nothing to do",),
        ),
        Part(op.MONITORING_START),
        Part(op.ESTABLISH, ("Establishing relationships",), ("Relationships established",)),
        Part(frame=("= started", "Node instance started")),
    ),
    (Part(frame=("= started", "Node instance started (nothing to do)")),),
)

STOP_BEGINS = Part(frame=("= stopping", "Stopping node instance"))
VALIDATION = Part(
    op.VALIDATE_DELETION,
    ("Validating node instance before deletion",),
    ("Node instance validated before deletion",),
    ("Validating node instance after deletion: nothing to do",),
)
BEFORE_STOP = (
    Part(op.MONITORING_STOP),
    Part(op.PRESTOP, ("Prestopping node instance",), ("Node instance prestopped",)),
    Part(op.MONITORING_AGENT_STOP),
    Part(op.MONITORING_AGENT_UNINSTALL),
)
STOP = Part(op.STOP, (), ("Stopped node instance",), ("Stopped node instance: nothing to do",))
STOP_ENDS = Part(frame=("= stopped",))
UNLINK = Part(op.UNLINK, ("Unlinking relationships",), ("Relationships unlinked",))
DELETE = Part(op.DELETE, ("= deleting", "Deleting node instance"), (), ("Deleting node instance: nothing to do",))
AFTER_DELETE = Part(op.POSTDELETE, ("Postdeleting node instance",), ("Node instance postdeleted",))
DELETE_ENDS = Part(frame=("= deleted", "Deleted node instance"))


def uninstall_tale(present: State) -> MessageScript:
    """What is told of an instance that uninstall finds in this state."""

    def unless(states: AbstractSet[State], *parts: Part, instead: str = "") -> tuple[Part, ...]:
        if present not in states:
            return parts
        return (Part(frame=(f"{instead}: instance already {present.word}",)),) if instead else ()

    return MessageScript(
        (
            *unless(NOT_RUNNING, STOP_BEGINS),
            VALIDATION,
            *unless(NOT_RUNNING, *BEFORE_STOP, STOP, instead="Stop"),
            *unless(STOPPED, STOP_ENDS),
            *unless(NOT_THERE, UNLINK, DELETE, AFTER_DELETE, instead="Delete"),
            *unless(DELETED, DELETE_ENDS),
        )
    )


UNINSTALL_TALE = uninstall_tale(State.STARTED)
"""Of an instance that was running."""

CLEAN_UP_TALE = MessageScript(
    (
        Part(frame=("Rolling back prior to resuming install",)),
        *BEFORE_STOP,
        Part(op.STOP, (), ("Stopped node instance",)),
        Part(op.DELETE, ("Deleting node instance",)),
        AFTER_DELETE,
        Part(frame=("Finished rolling back, now resuming install",)),
    )
)
"""W8"""


HALF_STARTED_TALE = MessageScript(
    (STOP_BEGINS, VALIDATION, *BEFORE_STOP, STOP, Part(frame=("= configured", "Rollbacked node instance")))
)
HALF_THERE_TALE = MessageScript(
    (
        UNLINK,
        Part(op.DELETE, ("Deleting node instance",), (), ("Deleting node instance: nothing to do",)),
        AFTER_DELETE,
        Part(frame=("= uninitialized", "Rollbacked node instance")),
    )
)
"""W45, of instances that were starting, and of those that were being created or configured."""


SUSPEND_TALE = MessageScript(
    (
        Part(frame=("Suspending node instance",)),
        Part(op.FREEZE_SUSPEND),
        Part(op.STOP),
        Part(frame=("= suspended", "Node instance suspended")),
    )
)
RESUME_TALE = MessageScript(
    (
        Part(frame=("Resuming node instance",)),
        Part(op.FREEZE_RESUME),
        Part(op.START),
        Part(frame=("= started", "Node instance resumed")),
    )
)
"""Decision 24; the ancestor has no such workflows, so the words are ours."""

CHECK_STATUS_TALE = MessageScript((Part(op.CHECK_STATUS),))
CHECK_DRIFT_TALE = MessageScript((Part(op.CHECK_DRIFT), Part(op.CHECK_RELATIONSHIP_DRIFT)))
"""W46: the ancestor tells of nothing but the calls."""


def heal_tale(diagnosis: str) -> MessageScript:
    """What is told of an instance that is healed (W36). ``diagnosis``: why, empty where nobody said (W67)."""
    return MessageScript(
        (
            Part(frame=(f"Healing node instance{_because(diagnosis)}",)),
            *(Part(operation) for operation in (op.PREHEAL, op.HEAL, op.POSTHEAL)),
            Part(frame=("Node instance healed",)),
        )
    )


LIFE_CYCLE_AGAIN_TALE = MessageScript((Part(frame=("Node lifecycle failed. Attempting to re-run node lifecycle",)),))
"""W5"""
UPDATE_TALE = MessageScript(
    (
        Part(frame=("Updating node instance",)),
        *(Part(operation) for operation in (*UPDATES, UPDATE_RELATIONSHIP)),
        Part(frame=("Node instance updated",)),
    )
)
"""W61"""


def reinstall_tale(diagnosis: str) -> MessageScript:
    """What is told of an instance before it is uninstalled because it could not be healed."""
    return MessageScript((Part(frame=(f"Reinstalling node instance{_because(diagnosis)}",)),))


def _because(diagnosis: str) -> str:
    return f" (Diagnosis: {diagnosis})" if diagnosis else ""


def operation_tale(full: str, given: str, parameters: Mapping[str, Value]) -> MessageScript:
    """What is told of an instance on which one operation is executed (W26). ``given``: its name as the user wrote it."""
    suffix = f" (Operation parameters: {dict(parameters)})" if parameters else ""
    return MessageScript((Part(full, (f"Starting operation {given}{suffix}",), (f"Finished operation {given}",)),))
