"""What the workflows are to those who watch actions: the word that a hook class is given (spec of hooks, section 5).

A native class reads what is done; a class of Heat's group reads the word that Heat has for it, which knows fewer: a scale is an
``UPDATE``, an abandon a ``DELETE``, and a restart is a ``SUSPEND`` with a ``RESUME`` behind it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKFLOW = "WORKFLOW"
"""The action of a workflow of somebody's own."""
ROLLBACK = "ROLLBACK"
"""The action that takes back what another one has done."""

ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "install": "CREATE",
        "uninstall": "DELETE",
        "reinstall": "REINSTALL",
        "rollback": ROLLBACK,
        "update": "UPDATE",
        "scale": "SCALE",
        "heal": "HEAL",
        "start": "START",
        "stop": "STOP",
        "restart": "RESTART",
        "pull": "PULL",
        "check": "CHECK",
        "check_status": "CHECK",
        "check_drift": "CHECK",
        "execute_operation": "EXECUTE_OPERATION",
        "install_new_agents": "INSTALL_NEW_AGENTS",
        "validate_agents": "VALIDATE_AGENTS",
        "suspend": "SUSPEND",
        "resume": "RESUME",
        "snapshot": "SNAPSHOT",
        "restore": "RESTORE",
        "adopt": "ADOPT",
        "abandon": "ABANDON",
        "relabel": "RELABEL",
    }
)
"""{workflow: its action}; what is empty is no action of its own."""

_AS_HEAT_HAS_IT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "SCALE": ("UPDATE",),
        "HEAL": ("UPDATE",),
        "REINSTALL": ("UPDATE",),
        "START": ("RESUME",),
        "STOP": ("SUSPEND",),
        "RESTART": ("SUSPEND", "RESUME"),
        "ABANDON": ("DELETE",),
        **{
            same: (same,)
            for same in (
                "CREATE", "DELETE", "UPDATE", ROLLBACK, "SUSPEND", "RESUME", "ADOPT", "SNAPSHOT", "CHECK", "RESTORE"
            )
        },
    }
)  # fmt: skip


def action_of(workflow: str) -> str:
    """The action that a workflow is; empty for one that is none: to delete a snapshot, to call somebody ill or to forbid something calls no hook.

    >>> action_of("scale"), action_of("nightly_backup"), action_of("mark_unhealthy")
    ('SCALE', 'WORKFLOW', '')
    """
    return "" if workflow in {"delete_snapshot", "mark_unhealthy", "restrict"} else ACTIONS.get(workflow, WORKFLOW)


def heat_actions(action: str) -> tuple[str, ...]:
    """What classes of Heat's group are told of an action, one after the other; nothing: they are not called.

    >>> heat_actions("ABANDON"), heat_actions("RESTART"), heat_actions("EXECUTE_OPERATION")
    (('DELETE',), ('SUSPEND', 'RESUME'), ())
    """
    return _AS_HEAT_HAS_IT.get(action, ())
