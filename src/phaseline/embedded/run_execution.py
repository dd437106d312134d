"""Run an execution to its end as the owner of the store, or watch the process that owns the store run it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.app.engine_log import open_log
from phaseline.app.function_discovery import declared
from phaseline.app.settings import retention_ages, slots
from phaseline.app.watcher import NullWatcher, Throttle
from phaseline.calls.threads.process_groups import DRAIN_S
from phaseline.embedded import hand_over_to_background as leaving
from phaseline.embedded.watch_execution import Ending, wait, waits_for
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows import row_queries
from phaseline.model.rows.rows import Actor
from phaseline.store import MEMORY
from phaseline.use_cases.commands.submission import SubmissionAnswer
from phaseline.use_cases.loading.stored_blueprint_files import restore_files
from phaseline.use_cases.lookup.blocking_executions import has_open_work
from phaseline.use_cases.queries.executions import view_execution

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.planner_driver import Planner
    from phaseline.calls.protocol.call import Caller, Flavour
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.catalog.phases.plugin_set import PhasePlugins
    from phaseline.model.blueprint.blueprint import Blueprint, Operation, Value
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.phases.definitions import PhaseCode
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.rows.maintenance import Purged
    from phaseline.model.rows.rows import EventRow, ExecutionRow
    from phaseline.plan.topology.stack_document import FilesTaken
    from phaseline.ports.estate import Estate
    from phaseline.ports.executor import Executor
    from phaseline.ports.lease import Lease
    from phaseline.ports.tenant_store import StoreReads
    from phaseline.run.loop.clockwork import Clockwork
    from phaseline.run.loop.engine import Engine
    from phaseline.tasks.host_keys import HostKeys
    from phaseline.use_cases.commands.submission import Submission
    from phaseline.views.background import Background
    from phaseline.views.views import ExecutionView

DISCONNECTED = "PL-S035"
"""Code of a lost connection to the database server; it is what a process finds that was stopped while it wrote."""


NOT_YET = frozenset(("PL-S004", DISCONNECTED))
"""Codes of problems after which a process that wants to own a store tries again: another was faster, a lost connection."""


class LeaveRequest:
    """A user's request that this process stops; another process then continues its executions.

    A signal handler may call the object at any time, which makes the request.
    """

    def __init__(self) -> None:
        """Create the object; the request is made when the object is called."""
        self.is_wanted = False
        self._interrupt: Callable[[], None] | None = None

    def __call__(self) -> None:
        """Make the request, and interrupt the engine if there is one."""
        self.is_wanted = True
        if self._interrupt is not None:
            self._interrupt()

    def interrupts(self, engine: Engine) -> None:
        """Set the engine that the request interrupts; if the request was made already, interrupt it now."""
        self._interrupt = engine.interrupt
        if self.is_wanted:
            engine.interrupt()


def run_or_watch(
    ctx: RequestContext, submission: Submission, watcher: Watcher | None = None, *, detach: bool = False
) -> ExecutionView:
    """Run or watch an execution until it has ended, needs an operator, or the user wants to leave.

    If other executions are open then, another process continues them. ``detach``: return as soon as an engine has
    accepted the execution. Raises: refusals of the owner.
    """
    if detach and ctx.settings.store_url == MEMORY:
        text = "the execution cannot be detached: a store in memory ends with its command"
        raise problem_error("PL-S008", text, "omit --detach, or name a file with --store sqlite:///PATH")
    raise_if_held(ctx.store, submission.row)
    answer = SubmissionAnswer(submission)
    watching, leave = watcher or NullWatcher(), LeaveRequest()
    ending = Ending.LEFT
    if not detach:
        watching.begun(submission.row.id, submission.row.deployment_name, leave)
        try:
            ending = _run(ctx, answer, watching, leave)
        except KeyboardInterrupt:  # the user of this process does not want to wait; other followers continue
            if has_open_work(ctx.app.store, besides={submission.row.number}):
                _leave(ctx)
            raise
        finally:
            watching.ended()
    background = None
    if ending is Ending.LEFT:
        background = leaving.ensure_taken_up(ctx, answer)
    elif ending is Ending.SETTLED:
        background = _leave(ctx)
    if answer.refusal is not None:
        raise ProblemsError([answer.refusal])
    return _result(ctx, submission.row, ending, background, detach=detach)


def _leave(ctx: RequestContext) -> Background | None:
    """Hand other open executions over when this process has finished its execution; return the engine started for them.

    If that fails, show the error as a warning instead of raising it.
    """
    try:
        is_wanted = ctx.app.launch is not None and has_open_work(ctx.app.store)
        return leaving.hand_over(ctx) if is_wanted else None
    except ProblemsError as error:
        ctx.notice(f"warning {error.problems[0]}; {error.problems[0].mend}")
        return None


def raise_if_held(store: StoreReads, row: ExecutionRow) -> None:
    """Raise PL-S013 if the execution waits because the store was restored, and was not released yet."""
    if not row.status.is_ended and row.number <= store.incarnations.held():
        from phaseline.store.sql.errors import held

        raise held(row)


def _run(ctx: RequestContext, answer: SubmissionAnswer, watching: Watcher, leave: LeaveRequest) -> Ending:
    """Wait until following the execution is over (``is_settled``) or this process owns the store; the owner runs the execution."""
    with ExitStack() as owned:
        with ctx.app.store.waiting():
            found = wait(ctx, answer, watching, leaves=lambda: leave.is_wanted, own=lambda: try_own(ctx, owned))
        return found if isinstance(found, Ending) else _serve(ctx, answer, watching, leave, found)


def try_own(ctx: RequestContext, owned: ExitStack) -> Lease | None:
    """Try to own the store until ``owned`` is closed; return the lease, or None if another process owns the store.

    Also return None if the connection to the server was lost meanwhile: another process that waits may have ended it,
    because this one was stopped for too long. A server that stays away is noticed by the next read.
    """
    if ctx.store.owner() is not None:
        return None
    try:
        return owned.enter_context(ctx.app.store.own(ctx.app.command))
    except ProblemsError as error:
        if error.problems[0].code in NOT_YET:
            return None
        raise


def _serve(
    ctx: RequestContext, answer: SubmissionAnswer, watching: Watcher, leave: LeaveRequest, lease: Lease
) -> Ending:
    """Run all open executions as the owner of the store, until this one is over (``is_settled``) or the process must leave."""
    store, number = ctx.store, answer.submission.row.number
    with open_engine(ctx, lease, watching, answer.submission.row) as engine:
        leave.interrupts(engine)
        engine.recover()
        row = engine.planning.row(number) if number in engine.known else store.execution(answer.submission.row.id)
        answer.note_row(row)
        was_over = (row is None or row.status.is_ended) and answer.has_come(store)
        told: set[str] = set()

        def has_settled() -> bool:
            if (
                engine.has_turned
                and not answer.submission.request
                and (number in engine.known or engine.has_ended(number))
            ):
                answer.is_there = True  # this engine accepted it, and stored that with its first turn
            if not answer.is_there and not (engine.has_turned and answer.has_come(store)):
                return False
            is_over = was_over or answer.refusal is not None
            if not told and number in engine.held:
                told.update(engine.phases.in_force.closed)
                watching.noticed(_waits_for(answer.submission.row.id, told))
            if not told and number in engine.claims.waiting:
                told.add(blocker := engine.planning.row(engine.claims.waiting[number]).id)
                watching.noticed(waits_for(store, answer.submission.row, blocker))
            return is_over or engine.has_ended(number) or engine.needs_attention(number)

        def has_company() -> bool:
            return bool(engine.known - {number}) and has_open_work(ctx.app.store, besides={number})

        engine.run(lambda: has_settled() or leave.is_wanted)
        if not has_settled():
            engine.run(lambda: has_settled() or has_company())  # no call of its own begins any more
        drain_s = DRAIN_S
        if has_open_work(ctx.app.store, besides={number}):
            drain_s = leaving.step_aside(
                engine, lambda: watching.noticed(leaving.stays(store.execution(answer.submission.row.id)))
            )
        is_settled = has_settled()
        engine.close(drain_s)
        if is_settled:
            return Ending.SETTLED
        return Ending.STOPPED if engine.is_asked_to_stop and not leave.is_wanted else Ending.LEFT


def _waits_for(execution: str, lanes: Collection[str]) -> str:
    """Return a sentence: the execution waits until an operator resumes or repairs these phases."""
    names = sorted(phase_of(lane) or lane for lane in lanes)
    return f"{execution} waits: {', '.join(names)} cannot be called now. See why: phaseline phases show {names[0]}"


@contextmanager
def open_engine(
    ctx: RequestContext, lease: Lease, watcher: Watcher, watched: ExecutionRow | None = None
) -> Iterator[Engine]:
    """Open a context with an engine for the store, which this process owns by ``lease``.

    When the context ends, the executor of the engine is stopped.
    """
    from phaseline.run.loop.engine import Engine

    services = ProcessServices(ctx, lease, watcher, watched)
    log = services.log
    engine = Engine(ctx.app.store, ctx.clock, services, lease)
    engine.eviction.most_bytes = ctx.settings.cache_mib << 20
    engine.scheduling = lambda: _clockwork(ctx)
    engine.most_depth = ctx.settings.composition_depth
    if ages := retention_ages(ctx.settings):
        from phaseline.run.loop.retention import Retention

        engine.retention = Retention(ctx.app.store, services, ctx.clock.now, ages)
    _restore_code(ctx)
    log.started(ctx.app.command, user=ctx.actor.name)
    if log.trouble:
        watcher.noticed(f"warning the log file {log.path} cannot be written: {log.trouble}; see: phaseline doctor")
    drain_s = 0.0  # leaving by an exception, such as a second Ctrl-C, does not wait
    why = "it was interrupted"
    try:
        yield engine
        drain_s = DRAIN_S
        why = "a user requested it" if engine.is_asked_to_stop else "its work is done, or its user leaves"
    except ProblemsError as error:
        found = lease.loss() if error.problems[0].code == DISCONNECTED and lease.is_lost() else error
        why = str(found.problems[0])
        if found is not error:
            raise found from error
        raise
    finally:
        engine.executor.stop(drain_s)
        log.stopped(why, calls=engine.calls)
        # An engine is part of reference cycles, which Python collects rarely: free its columns at once.
        for held in (engine.scheduler, engine.deployments):
            vars(held).clear()


def _clockwork(ctx: RequestContext) -> Clockwork:
    """Return the clockwork, which is imported when the first schedule is due."""
    from phaseline.embedded.schedule_starts import clockwork

    return clockwork(ctx)


def _restore_code(ctx: RequestContext) -> None:
    """Write the files of packages and stored blueprints that open executions need, whichever tenant they belong to."""
    store = ctx.app.store
    has_packages = store.has_packages
    if not has_packages and not store.stored_blueprints.all():
        return
    rows = store.executions(only_open=True)
    for tenant in sorted({row.tenant for row in rows} | {ctx.actor.tenant}):
        own = _within(ctx, tenant)
        if has_packages:
            from phaseline.use_cases.lookup.installed_packages import restore_packages

            restore_packages(own)
        restore_files(own, [row.deployment for row in rows if row.tenant == tenant])


def _within(ctx: RequestContext, tenant: str) -> RequestContext:
    """Return the context in which the engine does something for a tenant."""
    return ctx if tenant == ctx.actor.tenant else altered(ctx, actor=Actor(ctx.actor.name, tenant))


class ProcessServices:
    """The services that the engine gets from this process (``run.loop.engine_services.EngineServices``)."""

    def __init__(self, ctx: RequestContext, lease: Lease, watcher: Watcher, watched: ExecutionRow | None) -> None:
        """Open the log; read no plugin. ``watched``: the execution whose progress ``watcher`` shows."""
        self._ctx, self._lease, self._watcher = ctx, lease, watcher
        self._watched = watched.number if watched is not None and watcher.wants_progress else None
        self._throttle = Throttle()
        self.log = open_log(ctx.settings, ctx.clock)
        self.secrets = ctx.app.vault
        self.phases = PluginFolders(ctx)

    @cached_property
    def estate(self) -> Estate:
        """What the calls of Components may ask, made when the first of them is called."""
        from phaseline.embedded.estate import StoredEstate

        return StoredEstate(self._ctx)

    def make_executor(self, inbox: Inbox[CallReport], deployments: DeploymentCache) -> Executor:
        """Return an executor that uses threads and worker processes of this machine, as many as the settings allow."""
        from phaseline.calls.batches.caller_registry import CallerRegistry
        from phaseline.run.executors.local_executor import LocalExecutor

        ctx, callers = self._ctx, CallerRegistry(self._caller)
        return LocalExecutor(inbox, deployments, ctx.catalog, ctx.clock, callers, slots(ctx.settings), self._lease)

    def _caller(self, flavour: Flavour) -> Caller:
        from phaseline.app.callers import make_caller

        return make_caller(flavour, self._host_keys)

    def _host_keys(self) -> HostKeys:
        """Return the check of SSH host keys that the settings require."""
        from phaseline.tasks.host_keys import HostKeys

        return HostKeys(self._ctx.settings.ssh_host_keys, self._ctx.settings.ssh_known_hosts)

    def planner(self, name: str, blueprint: Blueprint, code: CodeLocation) -> Planner | None:
        """Return the planner of the workflow with this name, or None if there is none.

        The planner comes from the blueprint's plugins or an installed distribution, or it is built in.
        """
        from phaseline.plan.workflows import PLANNERS

        mapped = blueprint.workflows.get(name)
        built_in = PLANNERS.get(name)
        if name == REACH_WORKFLOW or (built_in is not None and (mapped is None or mapped.built_in == name)):
            return built_in
        from phaseline.use_cases.loading.plugin_workflows import find_own

        found = find_own(self._ctx.catalog, blueprint, code, name)
        return built_in if found is None else found.plan

    def declare(self, operation: Operation, code: CodeLocation) -> Declaration:
        """Return how the function of an operation wants to be called.

        If its source is not found, assume that it is called as Cloudify calls functions.
        """
        return declared(self._ctx.app.catalog, operation, code)

    def files_of(self, deployment: int, code: CodeLocation, file: str) -> FilesTaken | None:
        """Return the files of the blueprint for the document of a deployment that is abandoned."""
        from phaseline.use_cases.prepare.stack_files import taken

        wanted = row_queries.DeploymentQuery(numbers=(deployment,))
        tenants = [row.tenant for row in self._ctx.app.store.listings.deployments(wanted)]
        return taken(_within(self._ctx, tenants[0]), deployment, code, file) if tenants else None

    def reload(self) -> Mapping[str, Value]:
        """Reload the plugins, and return the answer to the request that asks for it."""
        from phaseline.embedded.reload_plugins import reloaded

        return reloaded(self._ctx)

    def purged(self, removed: Purged, trouble: str) -> None:
        """Write what retention has removed into the log."""
        self.log.purged(removed, trouble)

    def events_stored(self, engine: Engine, events: Sequence[EventRow]) -> None:
        """Write the stored events into the log."""
        self.log.told(events, engine.planning.row)

    def turn_ended(self, engine: Engine) -> None:
        """Show the progress of the watched execution, unless it was shown very recently."""
        if self._watched is None:
            return
        now = self._ctx.clock.now()
        if self._throttle.lets_through(now):
            progress = engine.progress(self._watched)
            if progress is not None:
                self._watcher.progressed(progress, now)
            self._throttle.looked(now, self._ctx.clock.now())


class PluginFolders:
    """The plugins in the folders of the settings, read when the first resource starts.

    It implements ``run.phases.active_phases.PhaseSource``.
    """

    def __init__(self, ctx: RequestContext) -> None:
        """Create the object without reading any plugin."""
        self._ctx = ctx
        self._read: PhasePlugins | None = None

    def registry(self) -> PhaseRegistry:
        """Return the phases in use now; read the plugins at the first call."""
        if self._read is None:
            from phaseline.use_cases.lookup.known_phases import load, phase_plugins, refused_sentences

            self._read = phase_plugins(self._ctx)
            for sentence in refused_sentences(load(self._ctx)):
                self._ctx.notice(sentence)
        return self._read.loaded.registry

    def function(self, code: PhaseCode) -> Callable[..., object]:
        """Return the function of a listener. Raises any error of its import."""
        return self._ctx.catalog.load_phase(code)


def _result(
    ctx: RequestContext, row: ExecutionRow, ending: Ending, background: Background | None, *, detach: bool
) -> ExecutionView:
    store = ctx.store
    store.changed()  # raises for a store that was deleted meanwhile
    with store.at_once():
        now = store.execution(row.id) or row
        others = [other for other in store.executions(only_open=True) if other.number != row.number]
        owner = None if now.status.is_ended and not others else store.owner()
        last = store.incarnations.held() if others else 0
        others = [other for other in others if other.number > last]
        notices = () if owner or background else tuple(_still_open(other) for other in others[:5])
        view = view_execution(store, now, interrupted=ending is not Ending.SETTLED and not detach, notices=notices)
    runner = str(owner) if owner is not None and not now.status.is_ended else ""
    return altered(view, detached=detach, background=background, runner=runner)


def _still_open(other: ExecutionRow) -> str:
    if other.status is ExecutionStatus.ATTENTION:
        return f"{other.id} of '{other.deployment_name}' waits for a person; see: phaseline executions show {other.id}"
    return f"{other.id} of '{other.deployment_name}' is still open; resume it: phaseline executions resume {other.id}"
