"""The methods ``client.groups``: many deployments as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.estate.groups import GroupOrder
    from phaseline.use_cases.queries.estate.group_runs import RunEvents, RunFailures, RunView
    from phaseline.use_cases.queries.estate.groups import GroupView


class GroupsNoun(Noun):
    """Deployment groups: named sets of deployments, on which one command acts as on one."""

    def create(
        self,
        name: str,
        *,
        blueprint: str | None = None,
        plugins: Sequence[str] = (),
        inputs: Mapping[str, Value] | None = None,
        count: int = 0,
        each_inputs: str | Sequence[Mapping[str, object]] = (),
        deployments: Sequence[str] = (),
        from_groups: Sequence[str] = (),
        labels: Sequence[str] = (),
        description: str = "",
        allow_missing_providers: bool = False,
    ) -> GroupView:
        """Store a group. ``count`` members are made of the blueprint, and one for each of ``each_inputs``.

        ``each_inputs``: mappings, or a file with them (CSV, JSON lines, YAML). ``deployments`` and the members of
        ``from_groups`` join unchanged. All members that are made have the ``labels``.
        """
        order = _order(
            blueprint, plugins, inputs, count, each_inputs, deployments, from_groups, labels, description,
            allow_missing_providers=allow_missing_providers,
        )  # fmt: skip
        return self._call(ops.CREATE_GROUP, name=name, order=order)

    def extend(
        self,
        name: str,
        *,
        blueprint: str | None = None,
        plugins: Sequence[str] = (),
        inputs: Mapping[str, Value] | None = None,
        count: int = 0,
        each_inputs: str | Sequence[Mapping[str, object]] = (),
        deployments: Sequence[str] = (),
        from_groups: Sequence[str] = (),
        labels: Sequence[str] = (),
        allow_missing_providers: bool = False,
    ) -> GroupView:
        """Add members to a group, as ``create`` does. ``blueprint``: another one than the group's, for these only."""
        order = _order(
            blueprint, plugins, inputs, count, each_inputs, deployments, from_groups, labels, "",
            allow_missing_providers=allow_missing_providers,
        )  # fmt: skip
        return self._call(ops.EXTEND_GROUP, name=name, order=order)

    def shrink(self, name: str, *, deployments: Sequence[str] = (), from_groups: Sequence[str] = ()) -> GroupView:
        """Remove deployments, or the members of other groups, from a group; the deployments themselves stay."""
        return self._call(ops.SHRINK_GROUP, name=name, deployments=deployments, from_groups=from_groups)

    def list(self) -> Sequence[GroupView]:
        """Return all groups, by name, without their members."""
        return self._call(ops.LIST_GROUPS)

    def show(self, name: str) -> GroupView:
        """Return one group with its members and their statuses."""
        return self._call(ops.SHOW_GROUP, name=name)

    def delete(self, name: str, *, delete_deployments: bool = False) -> GroupView:
        """Delete a group, and with ``delete_deployments`` its members, too. Return it as it was."""
        return self._call(ops.DELETE_GROUP, name=name, delete_deployments=delete_deployments)

    def run(
        self,
        name: str,
        workflow: str,
        *,
        parameters: Mapping[str, Value] | None = None,
        each_params: str | Mapping[str, Value] | None = None,
        allow_custom_parameters: bool = False,
        force: bool = False,
        concurrency: str | None = None,
        stop_after: str | None = None,
        if_busy: Literal["wait", "refuse", "skip", "force"] = "wait",
        order: str = "name",
        skip_unavailable: bool = False,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> RunView:
        """Run a workflow of all members, an execution for each; all begin together and share their calls.

        ``each_params``: {deployment: parameters that override the others}, or a file with them. ``concurrency``: how many
        are open at a time, such as ``5`` or ``10%``; ``0`` begins none until ``set``. ``stop_after``: after more failed
        deployments than ``3`` or ``10%``, those that have not begun are canceled. ``if_busy``: for members whose instances
        another execution has claimed; ``skip`` leaves them out. ``order``: ``name`` or ``label:KEY``, in which they begin.
        ``skip_unavailable``: leave out members for which the workflow is not available, instead of refusing.
        """
        from phaseline.client.estate.member_files import read_each_parameters
        from phaseline.use_cases.commands.estate.group_runs import RunOrder

        wanted = RunOrder(
            workflow, parameters or {}, read_each_parameters(each_params or {}), allow_custom_parameters, force,
            concurrency, stop_after, if_busy, skip_unavailable, order,
        )  # fmt: skip
        return self._call(ops.RUN_GROUP, name=name, order=wanted, watcher=watcher, detach=detach)

    def runs(self, name: str, *, limit: int = 20) -> Sequence[RunView]:
        """Return the latest runs over a group, latest first."""
        return self._call(ops.LIST_RUNS, name=name, limit=limit)

    def follow(self, run: str, *, watcher: Watcher | None = None) -> RunView:
        """Wait for the end of a run by its id, or of the latest run over a group; if no process runs it, run it here."""
        return self._call(ops.FOLLOW_RUN, run=run, watcher=watcher)

    def events(self, run: str, *, limit: int = 1000) -> RunEvents:
        """Return the events of all executions of a run by time; the last ``limit`` of them."""
        return self._call(ops.RUN_EVENTS, run=run, limit=limit)

    def failures(self, run: str) -> RunFailures:
        """Return the failures of a run, grouped by operation and message."""
        return self._call(ops.RUN_FAILURES, run=run)

    def pause(self, run: str) -> RunView:
        """Begin no further execution of a run; what is open continues."""
        return self._call(ops.PAUSE_RUN, run=run)

    def resume(self, run: str, *, watcher: Watcher | None = None, detach: bool = False) -> RunView:
        """End the pause of a run."""
        return self._call(ops.RESUME_RUN, run=run, watcher=watcher, detach=detach)

    def cancel(
        self, run: str, *, force: bool = False, kill: bool = False, watcher: Watcher | None = None, detach: bool = False
    ) -> RunView:
        """Cancel all open executions of a run. ``force``: do not await running calls; ``kill``: end them."""
        how = "kill" if kill else "force" if force else "wait"
        return self._call(ops.CANCEL_RUN, run=run, how=how, watcher=watcher, detach=detach)

    def retry(
        self,
        run: str,
        *,
        only: Literal["failed", "canceled", "unsure"] | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> RunView:
        """Retry the failed, canceled and unsure executions of a run, or only those of one kind."""
        return self._call(ops.RETRY_RUN, run=run, only=only, watcher=watcher, detach=detach)

    def set(self, run: str, *, concurrency: str) -> RunView:
        """Change how many executions of a run are open at a time, while it runs."""
        return self._call(ops.SET_RUN, run=run, concurrency=concurrency)


def _order(
    blueprint: str | None,
    plugins: Sequence[str],
    inputs: Mapping[str, Value] | None,
    count: int,
    each: str | Sequence[Mapping[str, object]],
    deployments: Sequence[str],
    from_groups: Sequence[str],
    labels: Sequence[str],
    description: str,
    *,
    allow_missing_providers: bool,
) -> GroupOrder:
    from phaseline.client.estate.member_files import read_members
    from phaseline.use_cases.commands.estate.groups import GroupOrder
    from phaseline.use_cases.prepare.group_members import NewMembers

    members = NewMembers(count, read_members(each) if each else (), allow_missing_providers=allow_missing_providers)
    given = inputs or {}, members, tuple(deployments), tuple(from_groups), tuple(labels), description
    return GroupOrder(blueprint, tuple(plugins), *given)
