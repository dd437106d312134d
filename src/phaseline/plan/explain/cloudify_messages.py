"""The sentences and states that Cloudify shows around each operation of install and uninstall (W20, W23)."""

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
class MessagePart:
    """An operation with the lines that are shown before and after it.

    A line that begins with ``= `` is a state of the instance, any other line is a sentence. ``frame`` holds the lines
    that are shown instead if the instance has no entry for the operation, or if the part has no operation.
    """

    operation: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    frame: tuple[str, ...] = ()


@frozen
class MessageScript:
    """The script of a workflow for one instance: its parts in order.

    ``nothing_parts`` are the parts that are shown for an instance without calls; if empty, ``parts`` are shown.
    """

    parts: tuple[MessagePart, ...]
    nothing_parts: tuple[MessagePart, ...] = ()

    @property
    def nothing(self) -> MessageScript:
        """The script for an instance without calls."""
        return MessageScript(self.nothing_parts or self.parts)


INSTALL_TALE = MessageScript(
    (
        MessagePart(frame=("= initializing",)),
        MessagePart(
            op.VALIDATE_CREATION,
            ("Validating node instance before creation",),
            ("Node instance validated before creation",),
            ("Validating node instance before creation: nothing to do",),
        ),
        MessagePart(
            op.PRECREATE,
            ("Precreating node instance",),
            ("Node instance precreated",),
            ("Precreating node instance: nothing to do",),
        ),
        MessagePart(
            op.CREATE,
            ("Creating node instance", "= creating"),
            ("Node instance created", "= created"),
            ("Creating node instance: nothing to do",),
        ),
        MessagePart(op.PRECONFIGURE, ("Pre-configuring relationships",), ("Relationships pre-configured",)),
        MessagePart(
            op.CONFIGURE,
            ("= configuring", "Configuring node instance"),
            ("= configured", "Node instance configured"),
            ("Configuring node instance: nothing to do",),
        ),
        MessagePart(op.POSTCONFIGURE, ("Post-configuring relationships",), ("Relationships post-configured",)),
        MessagePart(
            op.START,
            ("= starting", "Starting node instance"),
            (),
            ("Starting node instance: nothing to do",),
        ),
        MessagePart(op.GET_STATE),
        MessagePart(op.MONITORING_AGENT_INSTALL),
        MessagePart(op.MONITORING_AGENT_START),
        MessagePart(
            op.POSTSTART,
            ("Poststarting node instance",),
            ("Node instance poststarted",),
            ("Poststarting node instance: nothing to do",),
        ),
        MessagePart(op.MONITORING_START),
        MessagePart(op.ESTABLISH, ("Establishing relationships",), ("Relationships established",)),
        MessagePart(frame=("= started", "Node instance started")),
    ),
    (MessagePart(frame=("= started", "Node instance started (nothing to do)")),),
)

STOP_BEGINS = MessagePart(frame=("= stopping", "Stopping node instance"))
VALIDATION = MessagePart(
    op.VALIDATE_DELETION,
    ("Validating node instance before deletion",),
    ("Node instance validated before deletion",),
    ("Validating node instance after deletion: nothing to do",),
)
BEFORE_STOP = (
    MessagePart(op.MONITORING_STOP),
    MessagePart(op.PRESTOP, ("Prestopping node instance",), ("Node instance prestopped",)),
    MessagePart(op.MONITORING_AGENT_STOP),
    MessagePart(op.MONITORING_AGENT_UNINSTALL),
)
STOP = MessagePart(op.STOP, (), ("Stopped node instance",), ("Stopped node instance: nothing to do",))
STOP_ENDS = MessagePart(frame=("= stopped",))
UNLINK = MessagePart(op.UNLINK, ("Unlinking relationships",), ("Relationships unlinked",))
DELETE = MessagePart(
    op.DELETE, ("= deleting", "Deleting node instance"), (), ("Deleting node instance: nothing to do",)
)
AFTER_DELETE = MessagePart(op.POSTDELETE, ("Postdeleting node instance",), ("Node instance postdeleted",))
DELETE_ENDS = MessagePart(frame=("= deleted", "Deleted node instance"))


def uninstall_tale(present: State) -> MessageScript:
    """Return the script of an uninstall, for an instance whose state before the uninstall is ``present``."""

    def unless(states: AbstractSet[State], *parts: MessagePart, instead: str = "") -> tuple[MessagePart, ...]:
        if present not in states:
            return parts
        return (MessagePart(frame=(f"{instead}: instance already {present.word}",)),) if instead else ()

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
"""The uninstall script for an instance that was running before."""

CLEAN_UP_TALE = MessageScript(
    (
        MessagePart(frame=("Rolling back prior to resuming install",)),
        *BEFORE_STOP,
        MessagePart(op.STOP, (), ("Stopped node instance",)),
        MessagePart(op.DELETE, ("Deleting node instance",)),
        AFTER_DELETE,
        MessagePart(frame=("Finished rolling back, now resuming install",)),
    )
)
"""The script of an instance whose failed install is cleaned up before the install continues (W8)."""


HALF_STARTED_TALE = MessageScript(
    (STOP_BEGINS, VALIDATION, *BEFORE_STOP, STOP, MessagePart(frame=("= configured", "Rollbacked node instance")))
)
HALF_THERE_TALE = MessageScript(
    (
        UNLINK,
        MessagePart(op.DELETE, ("Deleting node instance",), (), ("Deleting node instance: nothing to do",)),
        AFTER_DELETE,
        MessagePart(frame=("= uninitialized", "Rollbacked node instance")),
    )
)
"""The two scripts of a rollback (W45).

``HALF_STARTED_TALE`` is for instances that were starting, ``HALF_THERE_TALE`` for those being created or configured.
"""


SUSPEND_TALE = MessageScript(
    (
        MessagePart(frame=("Suspending node instance",)),
        MessagePart(op.FREEZE_SUSPEND),
        MessagePart(op.STOP),
        MessagePart(frame=("= suspended", "Node instance suspended")),
    )
)
RESUME_TALE = MessageScript(
    (
        MessagePart(frame=("Resuming node instance",)),
        MessagePart(op.FREEZE_RESUME),
        MessagePart(op.START),
        MessagePart(frame=("= started", "Node instance resumed")),
    )
)
"""The scripts of suspend and resume.

Cloudify has no such workflows, so the sentences are Phaseline's own (decision 24).
"""

CHECK_STATUS_TALE = MessageScript((MessagePart(op.CHECK_STATUS),))
CHECK_DRIFT_TALE = MessageScript((MessagePart(op.CHECK_DRIFT), MessagePart(op.CHECK_RELATIONSHIP_DRIFT)))
"""The scripts of the checks have no sentences, because Cloudify reports only the calls of a check (W46)."""


def heal_tale(diagnosis: str) -> MessageScript:
    """Return the script of an instance that is healed (W36).

    ``diagnosis`` is the reason that the user gave, or empty (W67).
    """
    return MessageScript(
        (
            MessagePart(frame=(f"Healing node instance{_because(diagnosis)}",)),
            *(MessagePart(operation) for operation in (op.PREHEAL, op.HEAL, op.POSTHEAL)),
            MessagePart(frame=("Node instance healed",)),
        )
    )


LIFE_CYCLE_AGAIN_TALE = MessageScript(
    (MessagePart(frame=("Node lifecycle failed. Attempting to re-run node lifecycle",)),)
)
"""The script that announces that the life cycle of an instance is repeated after a failure (W5)."""
UPDATE_TALE = MessageScript(
    (
        MessagePart(frame=("Updating node instance",)),
        *(MessagePart(operation) for operation in (*UPDATES, UPDATE_RELATIONSHIP)),
        MessagePart(frame=("Node instance updated",)),
    )
)
"""The script of an instance that is updated (W61)."""


def reinstall_tale(diagnosis: str) -> MessageScript:
    """Return the script that announces a reinstall of an instance, because it could not be healed."""
    return MessageScript((MessagePart(frame=(f"Reinstalling node instance{_because(diagnosis)}",)),))


def _because(diagnosis: str) -> str:
    return f" (Diagnosis: {diagnosis})" if diagnosis else ""


def operation_tale(full: str, given: str, parameters: Mapping[str, Value]) -> MessageScript:
    """Return the script of an instance on which one operation is executed (W26).

    ``full`` is the full name of the operation, ``given`` the name that the user wrote.
    """
    suffix = f" (Operation parameters: {dict(parameters)})" if parameters else ""
    return MessageScript(
        (MessagePart(full, (f"Starting operation {given}{suffix}",), (f"Finished operation {given}",)),)
    )
