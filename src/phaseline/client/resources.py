"""Resources for Python programs: a noun of ``phaseline.open()``, made like those beside it.

Whom a method is about is said by ``names``, by an expression ``filter``, by the key of a ``group`` of failures, or by
``all=True``; what of these is given must all hold. ``cluster`` keeps to one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked
from phaseline.client.execution_options import stops_of

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.resources.apply import Applied
    from phaseline.use_cases.commands.resources.control import Decided
    from phaseline.use_cases.commands.resources.set_target import Moved
    from phaseline.use_cases.queries.resources.export import Exported
    from phaseline.use_cases.queries.resources.history import ResourceHistory
    from phaseline.use_cases.queries.resources.resources import ResourceList, ResourceView
    from phaseline.use_cases.queries.resources.selection import Choice
    from phaseline.use_cases.queries.resources.wait_reasons import Why


@checked("resources")
class Resources:
    """What phases move from state to state."""

    def __init__(self, place: Workplace) -> None:
        """Over this store."""
        self._place = place

    def apply(
        self,
        *files: str,
        records: Sequence[Mapping[str, object]] = (),
        cluster: str = "",
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
    ) -> Applied:
        """Put the resources of files of records, and of records as JSON has them, into the store, or change those there are.

        ``cluster``: of those that name none. ``breakpoints``: where those that begin to move stop, such as ``pre-Acme.Create=node-*``.
        Raises ``ProblemsError`` with everything that is wrong; then nothing is stored.
        """
        from phaseline.use_cases.commands.resources.apply import apply

        return apply(
            self._place, files, cluster=cluster, records=records, breakpoints=stops_of(breakpoints, break_timeout)
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
        from phaseline.use_cases.queries.resources.resources import list_resources

        return list_resources(self._place, _choice(names, filter, group, cluster), limit=limit)

    def export(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
    ) -> Exported:
        """Resources as the records that ``apply`` takes: type, name, cluster, target and attributes; nothing said means all."""
        from phaseline.use_cases.queries.resources.export import export

        return export(self._place, _choice(names, filter, group, cluster))

    def show(self, name: str, *, cluster: str | None = None) -> ResourceView:
        """One of them with its record: attributes, state, and what each phase says of it."""
        from phaseline.use_cases.queries.resources.resources import show_resource

        return show_resource(self._place, name, cluster=cluster)

    def history(
        self, name: str, *, cluster: str | None = None, phases: Sequence[str] = (), limit: int | None = None
    ) -> ResourceHistory:
        """What it went through: states, calls, what users decided."""
        from phaseline.use_cases.queries.resources.history import history

        return history(self._place, name, cluster=cluster, phases=phases, limit=limit)

    def why(self, name: str, *, cluster: str | None = None) -> Why:
        """Why it is where it is: each phase of its state, whether it applies or why not, what it waits for."""
        from phaseline.use_cases.queries.resources.wait_reasons import why

        return why(self._place, name, cluster=cluster)

    def target(
        self,
        state: str,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
        force: bool = False,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
    ) -> Moved:
        """Give them another target; what runs of them is awaited first, unless ``force``. ``breakpoints``: where they stop."""
        from phaseline.use_cases.commands.resources.set_target import target

        choice = _choice(names, filter, group, cluster, everybody=all)
        return target(self._place, state, choice, force=force, breakpoints=stops_of(breakpoints, break_timeout))

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
        from phaseline.use_cases.commands.resources.control import retry

        choice = _choice(names, filter, group, cluster, everybody=all)
        return retry(self._place, choice, phases=phases, changes=set)

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
        from phaseline.use_cases.commands.resources.control import complete

        choice = _choice(names, filter, group, cluster, everybody=all)
        return complete(self._place, choice, reason=reason, phases=phases)

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
        from phaseline.use_cases.commands.resources.control import rerun

        return rerun(self._place, _choice(names, filter, group, cluster, everybody=all), phases=phases)

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
        from phaseline.use_cases.commands.resources.control import wake

        return wake(self._place, _choice(names, filter, group, cluster, everybody=all), phases=phases)

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
        from phaseline.use_cases.commands.resources.control import signal

        return signal(self._place, _choice(names, filter, group, cluster, everybody=all), data=data, phases=phases)

    def cancel(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Moved:
        """Leave them in the states they are in."""
        from phaseline.use_cases.commands.resources.set_target import cancel

        return cancel(self._place, _choice(names, filter, group, cluster, everybody=all))

    def delete(
        self,
        *names: str,
        filter: str = "",  # noqa: A002 - the word of the command
        group: str = "",
        cluster: str | None = None,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Moved:
        """Remove them and what is known of them; nothing is called to undo what their phases have made."""
        from phaseline.use_cases.commands.resources.set_target import delete

        return delete(self._place, _choice(names, filter, group, cluster, everybody=all))


def _choice(names: Sequence[str], where: str, group: str, cluster: str | None, *, everybody: bool = False) -> Choice:
    from phaseline.use_cases.queries.resources.selection import Choice

    return Choice(names, where, group, cluster, is_all=everybody)
