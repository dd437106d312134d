"""The action that hook classes receive for each workflow (spec of hooks, section 5).

Native classes receive our own action. Classes of Heat's group receive Heat's name for it. Heat has fewer: a scale is an
``UPDATE``, an abandon a ``DELETE``, and a restart is a ``SUSPEND`` followed by a ``RESUME``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKFLOW = "WORKFLOW"
"""The action of a custom workflow."""
ROLLBACK = "ROLLBACK"
"""The action that undoes another one."""

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
"""{workflow: its action}; an empty action means that hooks are not called."""

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
    """Return the action of a workflow; empty if hooks are not called: deleting a snapshot, marking unhealthy, restricting.

    >>> action_of("scale"), action_of("nightly_backup"), action_of("mark_unhealthy")
    ('SCALE', 'WORKFLOW', '')
    """
    return "" if workflow in {"delete_snapshot", "mark_unhealthy", "restrict"} else ACTIONS.get(workflow, WORKFLOW)


def heat_actions(action: str) -> tuple[str, ...]:
    """Return Heat's names for an action, in the order of the calls; empty if classes of Heat's group are not called.

    >>> heat_actions("ABANDON"), heat_actions("RESTART"), heat_actions("EXECUTE_OPERATION")
    (('DELETE',), ('SUSPEND', 'RESUME'), ())
    """
    return _AS_HEAT_HAS_IT.get(action, ())
