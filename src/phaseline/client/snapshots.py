"""What can be done with deployments as documents: snapshots, and what is left of those that were abandoned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked
from phaseline.client.execution_options import manner_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import Workplace
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.execution import IfBusy
    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.prepare.options import OnFailure
    from phaseline.use_cases.prepare.plan_preview import Planned
    from phaseline.use_cases.prepare.stack_documents import AbandonedView
    from phaseline.views.views import ExecutionView


@checked("snapshots")
class Snapshots:
    """Deployments as they were. How executions of them are run is said as of ``executions.install``."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def create(
        self,
        deployment: str,
        name: str | None = None,
        *,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Have everybody saved who can be, then write the deployment down; ``name`` None: the time."""
        from phaseline.use_cases.commands.snapshots import create_snapshot

        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return create_snapshot(self._place, deployment, name, manner=manner, watcher=watcher, detach=detach)

    def list(self, deployment: str | None = None) -> Sequence[SnapshotView]:
        """Those of a deployment, or of all; the oldest first."""
        from phaseline.use_cases.commands.snapshots import list_snapshots

        return list_snapshots(self._place, deployment)

    def show(self, deployment: str, name: str) -> Mapping[str, Value]:
        """The document of a snapshot."""
        from phaseline.use_cases.commands.snapshots import show_snapshot

        return show_snapshot(self._place, deployment, name)

    def restore(
        self,
        deployment: str,
        name: str,
        *,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Bring a deployment back to a snapshot."""
        from phaseline.use_cases.commands.snapshots import restore

        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return restore(self._place, deployment, name, manner=manner, watcher=watcher, detach=detach)

    def plan_restore(
        self, deployment: str, name: str, *, breakpoints: Sequence[str] = (), break_timeout: str | None = None
    ) -> Planned:
        """What a restore would do now."""
        from phaseline.use_cases.commands.snapshots import plan_restore

        manner = manner_of(breakpoints=breakpoints, break_timeout=break_timeout)
        return plan_restore(self._place, deployment, name, manner=manner)

    def delete(
        self,
        deployment: str,
        name: str,
        *,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Have what operations have saved deleted, then forget the snapshot."""
        from phaseline.use_cases.commands.snapshots import delete_snapshot

        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return delete_snapshot(self._place, deployment, name, manner=manner, watcher=watcher, detach=detach)


@checked("abandoned")
class Abandoned:
    """What is left of deployments that were abandoned in the last 30 days."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def list(self) -> Sequence[AbandonedView]:
        """What can still be had, the oldest first."""
        from phaseline.use_cases.prepare.stack_documents import list_abandoned

        return list_abandoned(self._place)

    def show(self, id: str) -> Mapping[str, Value]:
        """The document, by the id of the execution that abandoned the deployment."""
        from phaseline.use_cases.prepare.stack_documents import show_abandoned

        return show_abandoned(self._place, id)
