"""What can be done with deployments as documents: snapshots, and what is left of those that were abandoned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.use_cases.arguments import checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint import Value
    from phaseline.use_cases.plans import Planned
    from phaseline.use_cases.snapshots import SnapshotView
    from phaseline.use_cases.stack_documents import AbandonedView
    from phaseline.use_cases.values import ExecutionView
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace


@checked("snapshots")
class Snapshots:
    """Deployments as they were."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def create(
        self, deployment: str, name: str | None = None, *, watcher: Watcher | None = None, detach: bool = False
    ) -> ExecutionView:
        """Have everybody saved who can be, then write the deployment down; ``name`` None: the time."""
        from phaseline.use_cases.snapshots import create_snapshot

        return create_snapshot(self._place, deployment, name, watcher=watcher, detach=detach)

    def list(self, deployment: str | None = None) -> Sequence[SnapshotView]:
        """Those of a deployment, or of all; the oldest first."""
        from phaseline.use_cases.snapshots import list_snapshots

        return list_snapshots(self._place, deployment)

    def show(self, deployment: str, name: str) -> Mapping[str, Value]:
        """The document of a snapshot."""
        from phaseline.use_cases.snapshots import show_snapshot

        return show_snapshot(self._place, deployment, name)

    def restore(
        self, deployment: str, name: str, *, watcher: Watcher | None = None, detach: bool = False
    ) -> ExecutionView:
        """Bring a deployment back to a snapshot."""
        from phaseline.use_cases.snapshots import restore

        return restore(self._place, deployment, name, watcher=watcher, detach=detach)

    def plan_restore(self, deployment: str, name: str) -> Planned:
        """What a restore would do now."""
        from phaseline.use_cases.snapshots import plan_restore

        return plan_restore(self._place, deployment, name)

    def delete(
        self, deployment: str, name: str, *, watcher: Watcher | None = None, detach: bool = False
    ) -> ExecutionView:
        """Have what operations have saved deleted, then forget the snapshot."""
        from phaseline.use_cases.snapshots import delete_snapshot

        return delete_snapshot(self._place, deployment, name, watcher=watcher, detach=detach)


@checked("abandoned")
class Abandoned:
    """What is left of deployments that were abandoned in the last 30 days."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def list(self) -> Sequence[AbandonedView]:
        """What can still be had, the oldest first."""
        from phaseline.use_cases.stack_documents import list_abandoned

        return list_abandoned(self._place)

    def show(self, id: str) -> Mapping[str, Value]:
        """The document, by the id of the execution that abandoned the deployment."""
        from phaseline.use_cases.stack_documents import show_abandoned

        return show_abandoned(self._place, id)
