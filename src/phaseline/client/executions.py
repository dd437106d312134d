"""The methods ``client.executions``: an execution is one run of a workflow."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import following, manner_of, order_of, start_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Unpack

    from phaseline.app.watcher import Watcher
    from phaseline.client.option_types import ExecutionOptionsDict, FollowOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.approve import Approved
    from phaseline.use_cases.commands.maintenance import Purge
    from phaseline.use_cases.queries.events.events_and_logs import EventHistory, EventPages
    from phaseline.use_cases.queries.events.line_filter import LineFilter
    from phaseline.use_cases.queries.events.log_stream import LineStream
    from phaseline.use_cases.queries.events.log_tail import Tail
    from phaseline.use_cases.queries.events.timeline import Timeline
    from phaseline.views.views import ExecutionView, Line, Page


class ExecutionsNoun(Noun):
    """Run, control and inspect executions of workflows.

    A method that runs an execution returns when that has ended, needs a person, or is detached. An ``id`` or a name may
    be given by a unique beginning. Without an id, queries take the latest execution of ``deployment``, or of the only
    deployment. Commands that change an execution (approve, complete, resume, cancel …) take the only one to which they
    apply.
    """

    def install(
        self,
        file: str,
        deployment: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        yes_many: bool = False,
        runtime_only_evaluation: bool = False,
        labels: Sequence[str] = (),
        allow_missing_providers: bool = False,
        site: str | None = None,
        environment: str | None = None,
        **options: Unpack[ExecutionOptionsDict],
    ) -> ExecutionView:
        """Create a deployment from a blueprint file and install it.

        ``deployment`` None: use the name of the file's folder. ``labels``: ``KEY=VALUE``, added to those of the
        blueprint. ``yes_many``: allow more than a million relationship calls. ``runtime_only_evaluation``: evaluate
        intrinsic functions only when their values are needed. ``allow_missing_providers``: accept that deployments which
        the blueprint reads do not exist yet. ``site``: the site of the deployment. ``environment``: an environment to
        which it belongs.
        """
        order = order_of(
            file, deployment, inputs, plugins, labels, yes_many=yes_many, runtime_only=runtime_only_evaluation,
            allow_missing_providers=allow_missing_providers, site=site, environment=environment,
        )  # fmt: skip
        return self._call(ops.INSTALL, order=order, manner=manner_of(options), **following(options))

    def uninstall(
        self,
        deployment: str,
        *,
        ignore_failure: bool = False,
        recursive: bool = False,
        force: bool = False,
        **options: Unpack[ExecutionOptionsDict],
    ) -> ExecutionView:
        """Stop and delete every instance of a deployment; the record of the deployment stays.

        ``recursive``: first uninstall the deployments that belong to it by their label ``csys-obj-parent``. ``force``:
        uninstall it although other deployments read it.
        """
        return self._call(
            ops.UNINSTALL,
            name=deployment,
            ignore_failure=ignore_failure,
            recursive=recursive,
            force=force,
            manner=manner_of(options),
            **following(options),
        )

    def start(
        self,
        workflow: str,
        deployment: str,
        *,
        parameters: Mapping[str, Value] | None = None,
        allow_custom_parameters: bool = False,
        force: bool = False,
        **options: Unpack[ExecutionOptionsDict],
    ) -> ExecutionView:
        """Run any workflow of a deployment by its name, such as ``execute_operation``.

        ``allow_custom_parameters``: accept undeclared parameters and pass them to plugins. ``force``: run it even if
        the blueprint declares that the workflow is not available now, or other deployments read what it touches.
        """
        order = start_of(workflow, deployment, parameters, allow_custom_parameters=allow_custom_parameters, force=force)
        return self._call(ops.START, order=order, manner=manner_of(options), **following(options))

    def resume(
        self, id: str | None = None, *, deployment: str | None = None, **options: Unpack[FollowOptionsDict]
    ) -> ExecutionView:
        """Continue an execution that a crash or an interrupt left open. Completed operations are not called again."""
        return self._call(ops.RESUME, id=id, deployment=deployment, **options)

    def watch(
        self, id: str | None = None, *, deployment: str | None = None, watcher: Watcher | None = None
    ) -> ExecutionView:
        """Wait for the end of an execution, whichever process runs it; if none does, run it in this process."""
        return self._call(ops.WATCH, id=id, deployment=deployment, watcher=watcher)

    def retry(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instances: Sequence[str] = (),
        clean: bool = False,
        **options: Unpack[FollowOptionsDict],
    ) -> ExecutionView:
        """Call failed, canceled and unsure operations again, and continue with the work that waited for them.

        ``instances``: call only operations of these instances. ``clean``: first clean up half-created instances.
        """
        return self._call(ops.RETRY, id=id, deployment=deployment, instances=instances, clean=clean, **options)

    def complete(
        self,
        id: str | None = None,
        *,
        instances: Sequence[str],
        reason: str,
        operations: Sequence[str] = (),
        deployment: str | None = None,
        **options: Unpack[FollowOptionsDict],
    ) -> ExecutionView:
        """Mark operations as completed on your own responsibility, and continue with the work that waited for them.

        The decision is stored with your name and ``reason``.
        """
        return self._call(
            ops.COMPLETE,
            id=id,
            deployment=deployment,
            instances=instances,
            operations=operations,
            reason=reason,
            **options,
        )

    def approve(
        self, id: str | None = None, *, deployment: str | None = None, plan: str | None = None, reason: str = ""
    ) -> Approved:
        """Approve the plan for which a hook waits.

        ``plan``: the digest of the plan that you have read; the approval is refused if the hook waits for another plan.
        """
        return self._call(ops.APPROVE, id=id, deployment=deployment, plan=plan, reason=reason)

    def wake(
        self,
        id: str | None = None,
        *,
        instances: Sequence[str],
        operations: Sequence[str] = (),
        deployment: str | None = None,
        **options: Unpack[FollowOptionsDict],
    ) -> ExecutionView:
        """Call sleeping operations now. ``operations``: only these, by full name or the last part of the name."""
        return self._call(ops.WAKE, id=id, deployment=deployment, instances=instances, operations=operations, **options)

    def rerun(
        self,
        id: str | None = None,
        *,
        instances: Sequence[str],
        phases: Sequence[str],
        deployment: str | None = None,
        **options: Unpack[FollowOptionsDict],
    ) -> ExecutionView:
        """Call completed phases of nodes again, while the nodes are still in the state of the phase."""
        return self._call(ops.RERUN, id=id, deployment=deployment, instances=instances, phases=phases, **options)

    def cancel(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        force: bool = False,
        kill: bool = False,
        watcher: Watcher | None = None,
    ) -> ExecutionView:
        """Cancel an open execution: no new call begins; running calls are awaited.

        ``force``: do not await running calls, but let them run. ``kill``: end the running calls.
        """
        how: Literal["wait", "force", "kill"] = "kill" if kill else "force" if force else "wait"
        return self._call(ops.CANCEL, id=id, deployment=deployment, how=how, watcher=watcher)

    def list(
        self,
        *,
        deployment: str | None = None,
        status: str | None = None,
        workflow: str = "",
        by: str = "",
        since: str | int | None = None,
        text: str = "",
        filter: str = "",  # noqa: A002 - the word of the command
        rules: Sequence[str] = (),
        limit: int | None = None,
    ) -> Page[ExecutionView]:
        """Return the executions of one deployment or of all, latest first, without their failures.

        ``by``: only those that this user requested. ``since``: only those requested since then; an age such as ``30d``,
        or ms since the epoch. ``text``: only those with this text in the id or the reason. ``filter``: only those for which
        this expression is true. ``@NAME`` in its place, and ``rules``: only those of the deployments that a saved filter
        or rules select.
        """
        from phaseline.use_cases.queries.executions import ExecutionFilter

        wanted = ExecutionFilter(status or "", workflow, by, _since(since), text)
        return self._call(
            ops.LIST_EXECUTIONS, deployment=deployment, wanted=wanted, where=filter, rules=rules, limit=limit
        )

    def show(self, id: str | None = None, *, deployment: str | None = None) -> ExecutionView:
        """Return one execution with every failed operation."""
        return self._call(ops.SHOW_EXECUTION, id=id, deployment=deployment)

    def logs(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instance: str | None = None,
        node: str = "",
        phase: str = "",
        level: str = "",
        text: str = "",
        limit: int | None = None,
    ) -> EventHistory:
        """Return the last ``limit`` log lines of scripts, plugins and the engine; None: all.

        ``node``: only lines about its instances. ``phase``: only lines of this operation or phase; the last part of its
        name is enough. ``level``: only lines of this level and above; empty: all levels, including debug. ``text``:
        only lines that contain this text, in upper or lower case.
        """
        wanted = _filter(node, phase, level, text)
        return self._call(ops.LOGS, id=id, deployment=deployment, instance=instance, wanted=wanted, limit=limit)

    def events(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        node: str = "",
        phase: str = "",
        level: str = "",
        text: str = "",
        limit: int | None = None,
    ) -> EventHistory:
        """Return the last ``limit`` events of the execution and of its instances; None: all.

        ``level``: only events of this type. The other arguments are those of ``logs``.
        """
        wanted = _filter(node, phase, level, text)
        return self._call(ops.EVENTS, id=id, deployment=deployment, wanted=wanted, limit=limit)

    def event_pages(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        node: str = "",
        phase: str = "",
        level: str = "",
        text: str = "",
        limit: int | None = None,
    ) -> EventPages:
        """Return the events that ``events`` returns, but page by page, so that not all lines are in memory at once."""
        wanted = _filter(node, phase, level, text)
        return self._call(ops.EVENT_PAGES, id=id, deployment=deployment, wanted=wanted, limit=limit)

    def stream_logs(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instance: str | None = None,
        node: str = "",
        phase: str = "",
        level: str = "",
        text: str = "",
    ) -> LineStream:
        """Return a stream of log lines, which yields new lines in pages until the execution has ended.

        The arguments are those of ``logs``.
        """
        wanted = _filter(node, phase, level, text)
        return self._call(ops.STREAM_LOGS, id=id, deployment=deployment, instance=instance, wanted=wanted)

    def stream_events(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        node: str = "",
        phase: str = "",
        level: str = "",
        text: str = "",
    ) -> LineStream:
        """Return a stream of events, which yields new events in pages until the execution has ended.

        The arguments are those of ``events``.
        """
        wanted = _filter(node, phase, level, text)
        return self._call(ops.STREAM_EVENTS, id=id, deployment=deployment, wanted=wanted)

    def timeline(self, id: str | None = None, *, deployment: str | None = None) -> Timeline:
        """Return when each phase ran, and the critical path: the calls that determined when the execution ended."""
        return self._call(ops.TIMELINE, id=id, deployment=deployment)

    def follow(self, id: str | None = None, *, deployment: str | None = None) -> Iterator[Line]:
        """Yield log lines and events from the beginning, then new ones as they arrive, until the execution has ended.

        It also stops if the execution needs a person. This only reads: another process, or another thread, must run the
        execution.
        """
        return self._call(ops.FOLLOW, id=id, deployment=deployment)

    def tail(self, id: str) -> Tail:
        """Return a reader of one execution: its ``new()`` returns the log lines and events since the previous call."""
        return self._call(ops.TAIL, execution=id)

    def purge(self, older: str | float, *, deployment: str | None = None, dry_run: bool = False) -> Purge:
        """Remove executions that ended longer ago than ``older`` (``30d``, or seconds), with all their data."""
        from phaseline.lang.durations import read_age_ms

        age_ms = read_age_ms(older) if isinstance(older, str) else round(older * 1000)
        return self._call(ops.PURGE, older_ms=age_ms, deployment=deployment, dry_run=dry_run)

    def is_built_in(self, workflow: str) -> bool:
        """Return whether every deployment has a workflow of this name."""
        return self._call(ops.IS_BUILT_IN, name=workflow)


def _since(since: str | int | None) -> int:
    """Return the beginning of a period in ms since the epoch; 0 if the period is unlimited."""
    if not isinstance(since, str):
        return since or 0
    from phaseline.lang.durations import read_age_ms

    return time.time_ns() // 1_000_000 - read_age_ms(since)


def _filter(node: str, phase: str, level: str, text: str) -> LineFilter:
    from phaseline.use_cases.queries.events.line_filter import LineFilter

    return LineFilter(node, phase, level, text)
