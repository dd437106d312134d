"""The built-in workflows. Each is a module with a planner, which is imported when the workflow is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.plan.graph.workflow import Planner, Workflow

NAMES = (
    "install", "uninstall", "reinstall", "rollback", "execute_operation", "start", "stop", "restart", "pull",
    "check_status", "check_drift", "heal", "update", "scale", "suspend", "resume", "check",
    "snapshot", "restore", "delete_snapshot", "adopt", "abandon", "mark_unhealthy", "restrict", "relabel",
)  # fmt: skip


def built_in(name: str) -> Workflow:
    """Return the built-in workflow of this name. Raises: ``KeyError`` if there is none."""
    match name:
        case "install":
            from phaseline.plan.workflows import install

            return install.WORKFLOW
        case "uninstall":
            from phaseline.plan.workflows import uninstall

            return uninstall.WORKFLOW
        case "reinstall":
            from phaseline.plan.workflows import reinstall

            return reinstall.WORKFLOW
        case "rollback":
            from phaseline.plan.workflows import rollback

            return rollback.WORKFLOW
        case "execute_operation":
            from phaseline.plan.workflows import execute_operation

            return execute_operation.WORKFLOW
        case "scale":
            from phaseline.plan.workflows import scale

            return scale.WORKFLOW
        case "heal":
            from phaseline.plan.workflows import heal

            return heal.WORKFLOW
        case "update":
            from phaseline.plan.workflows import update

            return update.WORKFLOW
        case "snapshot" | "restore" | "delete_snapshot":
            from phaseline.plan.workflows import snapshot_restore as snapshots

            return snapshots.WORKFLOWS[name]
        case "adopt" | "abandon":
            from phaseline.plan.workflows import abandon, adopt

            return adopt.WORKFLOW if name == "adopt" else abandon.WORKFLOW
        case "mark_unhealthy" | "restrict" | "relabel":
            from phaseline.plan.workflows import bookkeeping as saying

            return saying.WORKFLOWS[name]
        case "suspend" | "resume":
            from phaseline.plan.workflows import suspend_resume as freezing

            return freezing.WORKFLOWS[name]
        case "check_status" | "check_drift" | "check":
            from phaseline.plan.workflows import check as checking

            return checking.WORKFLOWS[name]
        case "start" | "stop" | "restart" | "pull":
            from phaseline.plan.workflows import start_stop

            return start_stop.WORKFLOWS[name]
    raise KeyError(name)


class _Planners(Mapping[str, "Planner"]):
    """The planners by name. Listing the names imports no planner, because a command needs only one of them."""

    def __getitem__(self, name: str) -> Planner:
        return built_in(name).plan

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __contains__(self, name: object) -> bool:
        return name in NAMES


PLANNERS: Mapping[str, Planner] = _Planners()
"""{name of a built-in workflow: its planner}"""
