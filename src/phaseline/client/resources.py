"""The methods ``client.resources``: phases move resources from state to state.

A method selects resources by ``names``, by an expression ``filter``, by the key of a ``group`` of failures, or by
``all=True``. A resource must meet all given conditions. ``cluster``: only resources of this cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import stops_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from phaseline.client.option_types import StopOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.resources.apply import Applied
    from phaseline.use_cases.commands.resources.phase_decisions import Decided
    from phaseline.use_cases.commands.resources.set_target import Moved
    from phaseline.use_cases.queries.resources.export import Exported
    from phaseline.use_cases.queries.resources.history import ResourceHistory
    from phaseline.use_cases.queries.resources.resource_waits import Why
    from phaseline.use_cases.queries.resources.resources import ResourceList, ResourceView
    from phaseline.use_cases.queries.resources.selection import ResourceSelector


class ResourcesNoun(Noun):
    """Resources, which phases move from state to state.

    A method selects resources by ``names``, by an expression ``filter``, by the key of a ``group`` of failures, or by
    ``all=True``. A resource must meet all given conditions. ``cluster``: only resources of this cluster.
    """

    def apply(
        self,
        *files: str,
        records: Sequence[Mapping[str, object]] = (),
        cluster: str = "",
        **options: Unpack[StopOptionsDict],
    ) -> Applied:
        """Add resources to the store or change existing ones, from record files and from ``records`` (JSON values).

        ``cluster``: the cluster of records that name none. ``breakpoints``: points at which resources that begin to
        move stop, such as ``pre-Acme.Create=node-*``. If there is a problem, nothing is stored. Raises
        ``ProblemsError`` with all problems.
        """
        return self._call(
            ops.APPLY_RESOURCES, files=files, cluster=cluster, records=records, breakpoints=stops_of(options)
        )

    def list(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        limit: int | None = None,
    ) -> ResourceList:
        """Return resources with the phases that keep them in their states, and groups of equal failures.

        Without a selection, return all resources.
        """
        return self._call(ops.LIST_RESOURCES, choice=_choice(names, filter, group, cluster), limit=limit)

    def export(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
    ) -> Exported:
        """Return resources as records for ``apply``: type, name, cluster, target and attributes.

        Without a selection, return all resources.
        """
        return self._call(ops.EXPORT_RESOURCES, choice=_choice(names, filter, group, cluster))

    def show(self, name: str, *, cluster: str | None = None) -> ResourceView:
        """Return one resource with its record: attributes, state, and the messages of each phase."""
        return self._call(ops.SHOW_RESOURCE, name=name, cluster=cluster)

    def history(
        self, name: str, *, cluster: str | None = None, phases: Sequence[str] = (), limit: int | None = None
    ) -> ResourceHistory:
        """Return the history of a resource: states, calls and decisions of users."""
        return self._call(ops.RESOURCE_HISTORY, name=name, cluster=cluster, phases=phases, limit=limit)

    def why(self, name: str, *, cluster: str | None = None) -> Why:
        """Return why a resource is in its state: for each phase, whether and why it applies, and what it waits for."""
        return self._call(ops.RESOURCE_WHY, name=name, cluster=cluster)

    def target(
        self,
        state: str,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
        force: bool = False,
        **options: Unpack[StopOptionsDict],
    ) -> Moved:
        """Give resources another target state; running calls are awaited first, except with ``force``.

        ``breakpoints``: points at which the resources stop.
        """
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.TARGET_RESOURCES, state=state, choice=choice, force=force, breakpoints=stops_of(options))

    def retry(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
        phases: Sequence[str] = (),
        set: Mapping[str, str] | None = None,  # noqa: A002 - the word of the command
    ) -> Decided:
        """Call failed phases again. ``set``: attributes to set before, {name: value in the informal syntax}."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.RETRY_RESOURCES, choice=choice, phases=phases, changes=set)

    def complete(
        self,
        *names: str,
        reason: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
        phases: Sequence[str] = (),
    ) -> Decided:
        """Mark phases as completed on your own responsibility; without ``phases``, all failed phases."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.COMPLETE_RESOURCES, choice=choice, reason=reason, phases=phases)

    def rerun(
        self,
        *names: str,
        phases: Sequence[str],
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Decided:
        """Call completed phases again, while their resources are still in the state of the phase."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.RERUN_RESOURCES, choice=choice, phases=phases)

    def wake(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
        phases: Sequence[str] = (),
    ) -> Decided:
        """Call sleeping phases now."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.WAKE_RESOURCES, choice=choice, phases=phases)

    def signal(
        self,
        *names: str,
        data: Value = None,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
        phases: Sequence[str] = (),
    ) -> Decided:
        """Send data to sleeping phases. They are called now and find it in ``signals`` of their phase data."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.SIGNAL_RESOURCES, choice=choice, data=data, phases=phases)

    def cancel(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Moved:
        """Stop moving resources to their targets: they stay in their present states."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.CANCEL_RESOURCES, choice=choice)

    def delete(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Moved:
        """Remove resources and all their data. No phase is called to undo earlier work."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.DELETE_RESOURCES, choice=choice)


def _choice(
    names: Sequence[str], where: str, group: str, cluster: str | None, *, everybody: bool = False
) -> ResourceSelector:
    from phaseline.use_cases.queries.resources.selection import ResourceSelector

    return ResourceSelector(names, where, group, cluster, is_all=everybody)
