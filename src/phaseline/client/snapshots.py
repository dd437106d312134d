"""Deployments as documents: snapshots, and what is left of those that were abandoned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import following, manner_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from phaseline.client.execution_options import ExecutionOptionsDict, RunOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.snapshots import SnapshotView
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.use_cases.prepare.stack_documents import AbandonedView
    from phaseline.views.views import ExecutionView


class SnapshotsNoun(Noun):
    """Deployments as they were."""

    def create(
        self, deployment: str, name: str | None = None, **options: Unpack[ExecutionOptionsDict]
    ) -> ExecutionView:
        """Have every instance saved that has an operation for it, then write the deployment down; ``name`` None: the time."""
        return self._call(
            ops.CREATE_SNAPSHOT, deployment=deployment, name=name, manner=manner_of(options), **following(options)
        )

    def list(self, deployment: str | None = None) -> Sequence[SnapshotView]:
        """Those of a deployment, or of all; the oldest first."""
        return self._call(ops.LIST_SNAPSHOTS, deployment=deployment)

    def show(self, deployment: str, name: str) -> Mapping[str, Value]:
        """The document of a snapshot."""
        return self._call(ops.SHOW_SNAPSHOT, deployment=deployment, name=name)

    def restore(self, deployment: str, name: str, **options: Unpack[ExecutionOptionsDict]) -> ExecutionView:
        """Bring a deployment back to a snapshot."""
        return self._call(
            ops.RESTORE, deployment=deployment, name=name, manner=manner_of(options), **following(options)
        )

    def plan_restore(self, deployment: str, name: str, **options: Unpack[RunOptionsDict]) -> PlanPreview:
        """What a restore would do now."""
        return self._call(ops.PLAN_RESTORE, deployment=deployment, name=name, manner=manner_of(options))

    def delete(self, deployment: str, name: str, **options: Unpack[ExecutionOptionsDict]) -> ExecutionView:
        """Have what operations have saved deleted, then forget the snapshot."""
        return self._call(
            ops.DELETE_SNAPSHOT, deployment=deployment, name=name, manner=manner_of(options), **following(options)
        )


class AbandonedNoun(Noun):
    """What is left of deployments that were abandoned in the last 30 days."""

    def list(self) -> Sequence[AbandonedView]:
        """What is still available, the oldest first."""
        return self._call(ops.LIST_ABANDONED)

    def show(self, id: str) -> Mapping[str, Value]:
        """The document, by the id of the execution that abandoned the deployment."""
        return self._call(ops.SHOW_ABANDONED, id=id)
