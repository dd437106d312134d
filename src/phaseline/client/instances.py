"""The methods ``client.instances``: each node of a deployment has one or more instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from phaseline.app.watcher import Watcher
    from phaseline.client.option_types import FollowOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.queries.instance_waits import Waiting
    from phaseline.use_cases.queries.stuck import Stuck
    from phaseline.views.views import ExecutionView, InstanceView, Page


class InstancesNoun(Noun):
    """The instances of the nodes of deployments."""

    def list(
        self,
        *,
        deployment: str | None = None,
        node: str | None = None,
        state: str | None = None,
        limit: int | None = None,
    ) -> Page[InstanceView]:
        """Return instances by deployment and number, without their properties."""
        return self._call(ops.LIST_INSTANCES, deployment=deployment, node=node, state=state, limit=limit)

    def show(self, id: str, *, deployment: str | None = None) -> InstanceView:
        """Return one instance, by its id or a unique beginning, with its runtime properties and relationships."""
        return self._call(ops.SHOW_INSTANCE, id=id, deployment=deployment)

    def mark_unhealthy(
        self, ids: Sequence[str], *, deployment: str | None = None, reason: str = "", watcher: Watcher | None = None
    ) -> ExecutionView:
        """Mark instances as unhealthy, even if checks find them healthy; the next heal repairs or reinstalls them."""
        return self._call(ops.MARK_UNHEALTHY, ids=ids, deployment=deployment, reason=reason, watcher=watcher)

    def restrict(
        self,
        deployment: str,
        names: Sequence[str],
        *,
        forbid: Sequence[str] = (),
        lift: bool = False,
        as_blueprint: bool = False,
        watcher: Watcher | None = None,
    ) -> ExecutionView:
        """Forbid exactly the actions in ``forbid`` (update, replace, delete) for nodes and instances.

        ``lift``: forbid nothing; this is also the default. ``as_blueprint``: forbid what the blueprint declares.
        Raises: PL-C094 for more than one of these three arguments.
        """
        from phaseline.use_cases.commands.restrict import raise_if_several_modes

        raise_if_several_modes(forbid, lift=lift, as_blueprint=as_blueprint)
        actions = None if as_blueprint else forbid
        return self._call(ops.RESTRICT, deployment=deployment, names=names, actions=actions, watcher=watcher)

    def signal(
        self,
        id: str,
        *,
        deployment: str | None = None,
        data: Value = None,
        operations: Sequence[str] = (),
        **options: Unpack[FollowOptionsDict],
    ) -> ExecutionView:
        """Send data to sleeping operations, which are called now and find it in ``item.data["signals"]``."""
        return self._call(ops.SIGNAL, id=id, deployment=deployment, data=data, operations=operations, **options)

    def why(self, id: str, *, deployment: str | None = None) -> Waiting:
        """Return what an instance waits for, since when, and what would let it continue."""
        return self._call(ops.WHY, id=id, deployment=deployment)

    def stuck(self, *, deployment: str | None = None, limit: int | None = None) -> Page[Stuck]:
        """Return groups of stuck entries with the same reason, oldest first, of one deployment or of all.

        Stuck entries do not continue by themselves, or not soon.
        """
        return self._call(ops.STUCK, deployment=deployment, limit=limit)
