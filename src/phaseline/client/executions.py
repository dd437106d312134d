"""Executions for Python programs: a noun of ``phaseline.open()``, made like those beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from phaseline.client.argument_checks import checked
from phaseline.client.execution_options import manner_of, order_of

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.execution import IfBusy
    from phaseline.use_cases.commands.approve import Approved
    from phaseline.use_cases.commands.maintenance import Purge
    from phaseline.use_cases.prepare.options import OnFailure
    from phaseline.use_cases.queries.events.events_and_logs import History
    from phaseline.use_cases.queries.events.timeline import Timeline
    from phaseline.views.views import ExecutionView, Line, Page


@checked("executions")
class Executions:
    """Runs of workflows. Those that run one return when it has ended, needs a person, or is detached.

    An ``id`` or a name may be a unique beginning; without an id the latest execution of ``deployment`` is meant, or of the
    only deployment there is; by words that change one (approve, complete, resume, cancel …) the only one to which they apply.
    """

    def __init__(self, place: Workplace) -> None:
        """Of the store of this place."""
        self._place = place

    def install(
        self,
        file: str,
        deployment: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        yes_many: bool = False,
        runtime_only_evaluation: bool = False,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        break_timeout: str | None = None,
        labels: Sequence[str] = (),
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Make a deployment of a blueprint file (``deployment`` None: named as its folder) and install it.

        ``task_retries`` None: as the settings say. ``stop_after``: ``3``, ``10%`` or ``30s``, how much may fail before
        nothing new begins. ``if_busy``: ``wait`` for executions that have a claim on the same instances, ``refuse`` or ``force``.
        ``timeout``: ``90s``, ``10m`` or ``2h``, canceled when it takes longer. ``subgraph_retries``: how often a life cycle that has
        failed is gone through again. ``breakpoints``: where instances stop until they are cleared, such as ``pre-create=app_*``.
        ``break_timeout``: what stops there and is not cleared so long has failed. ``labels``: as ``KEY=VALUE``, beside those of the
        blueprint. ``yes_many``: more than a million calls for relationships are meant. ``runtime_only_evaluation``: functions are
        evaluated when their values are needed.
        """
        from phaseline.use_cases.commands.install import install

        order = order_of(
            file, deployment, inputs, plugins, labels, yes_many=yes_many, runtime_only=runtime_only_evaluation
        )
        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return install(self._place, order, manner=manner, watcher=watcher, detach=detach)

    def uninstall(
        self,
        deployment: str,
        *,
        ignore_failure: bool = False,
        recursive: bool = False,
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
        """Stop and delete every instance of a deployment; the record of the deployment stays.

        ``recursive``: deployments that belong to it, by their label ``csys-obj-parent``, are uninstalled first.
        """
        from phaseline.use_cases.commands.install import uninstall

        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return uninstall(
            self._place,
            deployment,
            ignore_failure=ignore_failure,
            recursive=recursive,
            manner=manner,
            watcher=watcher,
            detach=detach,
        )

    def start(
        self,
        workflow: str,
        deployment: str,
        *,
        parameters: Mapping[str, Value] | None = None,
        allow_custom_parameters: bool = False,
        force: bool = False,
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
        """Run any workflow of a deployment by its name, such as ``execute_operation``.

        ``allow_custom_parameters``: those that nobody declares are handed on to plugins. ``force``: although the blueprint
        says that the workflow is not available now.
        """
        from phaseline.use_cases.commands.start_workflow import start
        from phaseline.use_cases.prepare.workflow_start import Start

        order = Start(workflow, deployment, parameters or {}, allow_custom_parameters, force)
        manner = manner_of(
            task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints, break_timeout
        )
        return start(self._place, order, manner=manner, watcher=watcher, detach=detach)

    def resume(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Carry on with one that a crash or an interrupt left open. What completed is not called again."""
        from phaseline.use_cases.commands.control import resume

        return resume(self._place, id, deployment=deployment, watcher=watcher, detach=detach)

    def retry(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instances: Sequence[str] = (),
        clean: bool = False,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Call again what failed, was canceled or is unsure, and go on. ``clean``: half-made instances go first."""
        from phaseline.use_cases.commands.control import retry

        return retry(
            self._place, id, deployment=deployment, instances=instances, clean=clean, watcher=watcher, detach=detach
        )

    def complete(
        self,
        id: str | None = None,
        *,
        instances: Sequence[str],
        reason: str,
        operations: Sequence[str] = (),
        deployment: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Take operations as completed because you vouch for them, and go on; kept with your name and ``reason``."""
        from phaseline.use_cases.commands.control import complete

        return complete(
            self._place,
            id,
            deployment=deployment,
            instances=instances,
            operations=operations,
            reason=reason,
            watcher=watcher,
            detach=detach,
        )

    def approve(
        self, id: str | None = None, *, deployment: str | None = None, plan: str | None = None, reason: str = ""
    ) -> Approved:
        """Agree to the plan that a hook waits with; ``plan``: its digest, refused if it waits for another one."""
        from phaseline.use_cases.commands.approve import approve

        return approve(self._place, id, deployment=deployment, plan=plan, reason=reason)

    def wake(
        self,
        id: str | None = None,
        *,
        instances: Sequence[str],
        operations: Sequence[str] = (),
        deployment: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Have what sleeps called now."""
        from phaseline.use_cases.commands.control import wake

        return wake(
            self._place,
            id,
            deployment=deployment,
            instances=instances,
            operations=operations,
            watcher=watcher,
            detach=detach,
        )

    def rerun(
        self,
        id: str | None = None,
        *,
        instances: Sequence[str],
        phases: Sequence[str],
        deployment: str | None = None,
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Have completed phases of nodes called once more, while these are in that state."""
        from phaseline.use_cases.commands.control import rerun

        return rerun(
            self._place, id, deployment=deployment, instances=instances, phases=phases, watcher=watcher, detach=detach
        )

    def cancel(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        force: bool = False,
        kill: bool = False,
        watcher: Watcher | None = None,
    ) -> ExecutionView:
        """End an open one: nothing new starts; running calls are awaited, left alone (``force``) or killed (``kill``)."""
        from phaseline.use_cases.commands.control import cancel

        how: Literal["wait", "force", "kill"] = "kill" if kill else "force" if force else "wait"
        return cancel(self._place, id, deployment=deployment, how=how, watcher=watcher)

    def list(
        self,
        *,
        deployment: str | None = None,
        status: str | None = None,
        workflow: str = "",
        by: str = "",
        since: str | int | None = None,
        text: str = "",
        limit: int | None = None,
    ) -> Page[ExecutionView]:
        """Executions of a deployment or of all, the latest first, without what failed in them.

        ``by``: the user who asked for it. ``since``: asked for since then, an age such as ``30d`` or ms since the epoch.
        ``text``: in the id or the reason.
        """
        from phaseline.lang.durations import read_age_ms
        from phaseline.use_cases.queries.executions import ExecutionFilter, list_executions

        begin = self._place.clock.now() - read_age_ms(since) if isinstance(since, str) else since or 0
        wanted = ExecutionFilter(status or "", workflow, by, begin, text)
        return list_executions(self._place, deployment=deployment, wanted=wanted, limit=limit)

    def show(self, id: str | None = None, *, deployment: str | None = None) -> ExecutionView:
        """One of them with every failed operation."""
        from phaseline.use_cases.queries.executions import show_execution

        return show_execution(self._place, id, deployment=deployment)

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
    ) -> History:
        """The last lines of scripts, plugins and the engine; ``limit`` None: all.

        ``node``: about its instances. ``phase``: an operation or phase, its last part will do. ``level``: this one and above; empty:
        all, also those for debugging. ``text``: lines with it, upper and lower case alike.
        """
        from phaseline.use_cases.queries.events.events_and_logs import logs
        from phaseline.use_cases.queries.events.line_filter import LineFilter

        wanted = LineFilter(node, phase, level, text)
        return logs(self._place, id, deployment=deployment, instance=instance, wanted=wanted, limit=limit)

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
    ) -> History:
        """The last events: what the execution and each of its instances went through; ``limit`` None: all.

        ``level``: the type of an event. The other words as of ``logs``.
        """
        from phaseline.use_cases.queries.events.events_and_logs import events
        from phaseline.use_cases.queries.events.line_filter import LineFilter

        wanted = LineFilter(node, phase, level, text)
        return events(self._place, id, deployment=deployment, wanted=wanted, limit=limit)

    def timeline(self, id: str | None = None, *, deployment: str | None = None) -> Timeline:
        """Which phase ran when, and the chain of calls that decided when it was done."""
        from phaseline.use_cases.queries.events.timeline import timeline

        return timeline(self._place, id, deployment=deployment)

    def follow(self, id: str | None = None, *, deployment: str | None = None) -> Iterator[Line]:
        """Log lines and events from its beginning on, the new ones as they come; ends when it has settled.

        It only looks: another process, or another thread of this one, runs it.
        """
        from phaseline.use_cases.queries.events.log_stream import lines_of

        return lines_of(self._place, id, deployment=deployment)

    def purge(self, older: str | float, *, deployment: str | None = None, dry_run: bool = False) -> Purge:
        """Remove executions that ended longer ago than this, with everything about them. ``older``: ``30d``, or seconds."""
        from phaseline.lang.durations import read_age_ms
        from phaseline.use_cases.commands.maintenance import purge

        age_ms = read_age_ms(older) if isinstance(older, str) else round(older * 1000)
        return purge(self._place, age_ms, deployment=deployment, dry_run=dry_run)
