"""Executions for Python programs: a noun of ``phaseline.open()``, made like those beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from phaseline.use_cases.arguments import checked

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.model.execution import IfBusy
    from phaseline.use_cases.approving import Approved
    from phaseline.use_cases.executions import ExecutionFilter
    from phaseline.use_cases.history import History
    from phaseline.use_cases.installing import Manner, OnFailure, Order
    from phaseline.use_cases.line_filter import LineFilter
    from phaseline.use_cases.timeline import Timeline
    from phaseline.use_cases.upkeep import Purge
    from phaseline.use_cases.values import ExecutionView, Line, Page
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace


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
        name: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        labels: Sequence[str] = (),
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Make a deployment of a blueprint file (``name`` None: its folder's) and install it.

        ``task_retries`` None: as the settings say. ``stop_after``: ``3``, ``10%`` or ``30s``, how much may fail before
        nothing new begins. ``if_busy``: ``wait`` for executions that have a claim on the same instances, ``refuse`` or ``force``.
        ``timeout``: ``90s``, ``10m`` or ``2h``, canceled when it takes longer. ``subgraph_retries``: how often a life cycle that has
        failed is gone through again. ``breakpoints``: where instances stop until they are cleared, such as ``pre-create=app_*``.
        ``labels``: as ``KEY=VALUE``, beside those of the blueprint.
        """
        from phaseline.use_cases.installing import install

        order = order_of(file, name, inputs, plugins, labels)
        manner = _manner(task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints)
        return install(self._place, order, manner=manner, watcher=watcher, detach=detach)

    def uninstall(
        self,
        name: str,
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
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Stop and delete every instance of a deployment; the record of the deployment stays.

        ``recursive``: deployments that belong to it, by their label ``csys-obj-parent``, are uninstalled first.
        """
        from phaseline.use_cases.installing import uninstall

        manner = _manner(task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints)
        return uninstall(
            self._place,
            name,
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
        allow_custom: bool = False,
        force: bool = False,
        task_retries: int | None = None,
        on_failure: OnFailure = "continue",
        stop_after: str | None = None,
        if_busy: IfBusy = "wait",
        timeout: str | None = None,
        subgraph_retries: int | None = None,
        breakpoints: Sequence[str] = (),
        watcher: Watcher | None = None,
        detach: bool = False,
    ) -> ExecutionView:
        """Run any workflow of a deployment by its name, such as ``execute_operation``.

        ``allow_custom``: parameters that nobody declares are handed on to plugins. ``force``: although the blueprint
        says that the workflow is not available now.
        """
        from phaseline.use_cases.workflows import Start, start

        order = Start(workflow, deployment, parameters or {}, allow_custom, force)
        manner = _manner(task_retries, on_failure, stop_after, if_busy, timeout, subgraph_retries, breakpoints)
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
        from phaseline.use_cases.deciding import resume

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
        from phaseline.use_cases.deciding import retry

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
        from phaseline.use_cases.deciding import complete

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
        from phaseline.use_cases.approving import approve

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
        from phaseline.use_cases.deciding import wake

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
        from phaseline.use_cases.deciding import rerun

        return rerun(
            self._place, id, deployment=deployment, instances=instances, phases=phases, watcher=watcher, detach=detach
        )

    def cancel(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        how: Literal["wait", "force", "kill"] = "wait",
        watcher: Watcher | None = None,
    ) -> ExecutionView:
        """End an open one: nothing new starts; running calls are awaited, left alone (``force``) or killed (``kill``)."""
        from phaseline.use_cases.deciding import cancel

        return cancel(self._place, id, deployment=deployment, how=how, watcher=watcher)

    def list(
        self,
        *,
        deployment: str | None = None,
        status: str | None = None,
        wanted: ExecutionFilter | None = None,
        limit: int | None = None,
    ) -> Page[ExecutionView]:
        """Executions of a deployment or of all, the latest first, without what failed in them."""
        from phaseline.use_cases.executions import list_executions

        return list_executions(self._place, deployment=deployment, status=status, wanted=wanted, limit=limit)

    def show(self, id: str | None = None, *, deployment: str | None = None) -> ExecutionView:
        """One of them with every failed operation."""
        from phaseline.use_cases.executions import show_execution

        return show_execution(self._place, id, deployment=deployment)

    def logs(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instance: str | None = None,
        wanted: LineFilter | None = None,
        limit: int | None = None,
    ) -> History:
        """The last lines of scripts, plugins and the engine."""
        from phaseline.use_cases.history import logs
        from phaseline.use_cases.line_filter import ANY

        return logs(self._place, id, deployment=deployment, instance=instance, wanted=wanted or ANY, limit=limit)

    def events(
        self,
        id: str | None = None,
        *,
        deployment: str | None = None,
        wanted: LineFilter | None = None,
        limit: int | None = None,
    ) -> History:
        """The last events: what the execution and each of its instances went through."""
        from phaseline.use_cases.history import events
        from phaseline.use_cases.line_filter import ANY

        return events(self._place, id, deployment=deployment, wanted=wanted or ANY, limit=limit)

    def timeline(self, id: str | None = None, *, deployment: str | None = None) -> Timeline:
        """Which phase ran when, and the chain of calls that decided when it was done."""
        from phaseline.use_cases.timeline import timeline

        return timeline(self._place, id, deployment=deployment)

    def follow(self, id: str | None = None, *, deployment: str | None = None) -> Iterator[Line]:
        """Log lines and events from its beginning on, the new ones as they come; ends when it has settled.

        It only looks: another process, or another thread of this one, runs it.
        """
        from phaseline.use_cases.live import lines_of

        return lines_of(self._place, id, deployment=deployment)

    def purge(self, older_s: float, *, deployment: str | None = None, dry_run: bool = False) -> Purge:
        """Remove executions that ended longer ago than this, with everything about them."""
        from phaseline.use_cases.upkeep import purge

        return purge(self._place, round(older_s * 1000), deployment=deployment, dry_run=dry_run)


def order_of(
    file: str,
    name: str | None,
    inputs: Mapping[str, Value] | None,
    plugins: Sequence[str],
    labels: Sequence[str] = (),
) -> Order:
    """What is to be installed, as programs say it."""
    from phaseline.use_cases.installing import Order

    return Order(file, name, inputs or {}, tuple(plugins), labels=tuple(labels))


def _manner(
    task_retries: int | None,
    on_failure: OnFailure,
    stop_after: str | None,
    if_busy: IfBusy,
    timeout: str | None,
    subgraph_retries: int | None,
    breakpoints: Sequence[str],
) -> Manner:
    from phaseline.model.breakpoints import read_breakpoint
    from phaseline.model.time_spans import read_span
    from phaseline.use_cases.installing import Manner, read_limit

    return Manner(
        task_retries,
        on_failure,
        None if stop_after is None else read_limit(stop_after),
        if_busy,
        None if timeout is None else read_span(timeout),
        subgraph_retries,
        tuple(map(read_breakpoint, breakpoints)),
    )
