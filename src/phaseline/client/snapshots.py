"""The methods ``client.snapshots`` and ``client.abandoned``: deployments stored as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import following, manner_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from phaseline.client.option_types import ExecutionOptionsDict, RunOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.use_cases.prepare.stack_documents import AbandonedView
    from phaseline.views.views import ExecutionView


class SnapshotsNoun(Noun):
    """Snapshots: stored copies of deployments, to which the deployments can be restored."""

    def create(
        self, deployment: str, name: str | None = None, **options: Unpack[ExecutionOptionsDict]
    ) -> ExecutionView:
        """Call the snapshot operations of all instances that have one, then store the deployment as a snapshot.

        ``name`` None: use the present time as the name.
        """
        return self._call(
            ops.CREATE_SNAPSHOT, deployment=deployment, name=name, manner=manner_of(options), **following(options)
        )

    def list(self, deployment: str | None = None) -> Sequence[SnapshotView]:
        """Return the snapshots of one deployment or of all, oldest first."""
        return self._call(ops.LIST_SNAPSHOTS, deployment=deployment)

    def show(self, deployment: str, name: str) -> Mapping[str, Value]:
        """Return the document of a snapshot."""
        return self._call(ops.SHOW_SNAPSHOT, deployment=deployment, name=name)

    def restore(self, deployment: str, name: str, **options: Unpack[ExecutionOptionsDict]) -> ExecutionView:
        """Restore a deployment to a snapshot."""
        return self._call(
            ops.RESTORE, deployment=deployment, name=name, manner=manner_of(options), **following(options)
        )

    def plan_restore(self, deployment: str, name: str, **options: Unpack[RunOptionsDict]) -> PlanPreview:
        """Return what a restore would do now."""
        return self._call(ops.PLAN_RESTORE, deployment=deployment, name=name, manner=manner_of(options))

    def delete(self, deployment: str, name: str, **options: Unpack[ExecutionOptionsDict]) -> ExecutionView:
        """Call the operations that delete saved data, then delete the snapshot."""
        return self._call(
            ops.DELETE_SNAPSHOT, deployment=deployment, name=name, manner=manner_of(options), **following(options)
        )


class AbandonedNoun(Noun):
    """The documents of deployments that were abandoned in the last 30 days."""

    def list(self) -> Sequence[AbandonedView]:
        """Return the documents that are still stored, oldest first."""
        return self._call(ops.LIST_ABANDONED)

    def show(self, id: str) -> Mapping[str, Value]:
        """Return one document. ``id``: of the execution that abandoned the deployment."""
        return self._call(ops.SHOW_ABANDONED, id=id)
