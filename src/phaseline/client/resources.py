"""Resources: what phases move from state to state.

Which resources a method is about is said by ``names``, by an expression ``filter``, by the key of a ``group`` of failures, or by
``all=True``; what of these is given must all hold. ``cluster`` keeps to one cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import stops_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from phaseline.client.execution_options import StopOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.resources.apply import Applied
    from phaseline.use_cases.commands.resources.control import Decided
    from phaseline.use_cases.commands.resources.set_target import Moved
    from phaseline.use_cases.queries.resources.export import Exported
    from phaseline.use_cases.queries.resources.history import ResourceHistory
    from phaseline.use_cases.queries.resources.resources import ResourceList, ResourceView
    from phaseline.use_cases.queries.resources.selection import ResourceSelector
    from phaseline.use_cases.queries.resources.wait_reasons import Why


class ResourcesNoun(Noun):
    """What phases move from state to state."""

    def apply(
        self,
        *files: str,
        records: Sequence[Mapping[str, object]] = (),
        cluster: str = "",
        **options: Unpack[StopOptionsDict],
    ) -> Applied:
        """Put the resources of files of records, and of records as JSON has them, into the store, or change those there are.

        ``cluster``: of those that name none. ``breakpoints``: where those that begin to move stop, such as ``pre-Acme.Create=node-*``.
        Raises ``ProblemsError`` with everything that is wrong; then nothing is stored.
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
        """Resources with the phases that keep them where they are, and what failed alike; nothing said means all."""
        return self._call(ops.LIST_RESOURCES, choice=_choice(names, filter, group, cluster), limit=limit)

    def export(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
    ) -> Exported:
        """Resources as the records that ``apply`` takes: type, name, cluster, target and attributes; nothing said means all."""
        return self._call(ops.EXPORT_RESOURCES, choice=_choice(names, filter, group, cluster))

    def show(self, name: str, *, cluster: str | None = None) -> ResourceView:
        """One of them with its record: attributes, state, and what each phase says of it."""
        return self._call(ops.SHOW_RESOURCE, name=name, cluster=cluster)

    def history(
        self, name: str, *, cluster: str | None = None, phases: Sequence[str] = (), limit: int | None = None
    ) -> ResourceHistory:
        """What it went through: states, calls, what users decided."""
        return self._call(ops.RESOURCE_HISTORY, name=name, cluster=cluster, phases=phases, limit=limit)

    def why(self, name: str, *, cluster: str | None = None) -> Why:
        """Why it is where it is: each phase of its state, whether it applies or why not, what it waits for."""
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
        """Give them another target; what runs of them is awaited first, unless ``force``. ``breakpoints``: where they stop."""
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
        """Let failed phases be called again. ``set``: attributes to set before, in the informal syntax."""
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
        """Take phases as completed because you vouch for them; without ``phases`` those that failed."""
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
        """Have completed phases called once more, while their resources are in that state."""
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
        """Have phases that sleep called now."""
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
        """Say something to phases that sleep: they are called now and find it in ``signals`` of their phase data."""
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
        """Leave them in the states they are in."""
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
        """Remove them and what is known of them; nothing is called to undo what their phases have made."""
        choice = _choice(names, filter, group, cluster, everybody=all)
        return self._call(ops.DELETE_RESOURCES, choice=choice)


def _choice(
    names: Sequence[str], where: str, group: str, cluster: str | None, *, everybody: bool = False
) -> ResourceSelector:
    from phaseline.use_cases.queries.resources.selection import ResourceSelector

    return ResourceSelector(names, where, group, cluster, is_all=everybody)
