"""Runs a workflow from its first call to its verdict without waiting: real planner, real scheduler, made-up plugins.

>>> from phaseline.testing.builders import blueprint, node
>>> app = blueprint(node("db", create="cloud.make"), node("web", create="cloud.make", to=["db"]))
>>> print(rehearse(app, outcomes={"web.create": [sleeps(30), completes()]}).text)
install: completed after 30 s
     0.0 s  create db_1: completed
     0.0 s  create web_1: again
    30.0 s  create web_1: completed
<BLANKLINE>
db_1: started
web_1: started
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.calls.batches.trial_call import with_plain_ids
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter
from phaseline.model.execution.stored_plans import PLAN, Aim, StoredPlan
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.rows import Actor, NewDeployment, NewExecution
from phaseline.plan.workflows import PLANNERS
from phaseline.run.loop.engine import Engine
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import topology as expand
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices
from phaseline.testing.scheduled_reports import ScheduledExecutor
from phaseline.testing.scripted_executor import (
    Called,
    CallScript,
    EngineDied,
    Says,
    ScriptedAnswers,
    completes,
    fails,
    retries,
    sleeps,
)

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Operation, Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.plan.graph.workflow import Planner
    from phaseline.use_cases.prepare.options import OnFailure

__all__ = ["Called", "Rehearsal", "Says", "completes", "fails", "rehearse", "retries", "sleeps"]

BEGINNING_MS = 1_700_000_000_000
MOST_TURNS = 100_000
"""Most turns of a rehearsal; a rehearsal with more turns counts as endless."""
DIRECTOR = Actor("rehearsal")
Declare = Callable[["Operation"], Declaration]


@frozen
class Rehearsal:
    """The result of a rehearsed workflow.

    ``status`` is that of the execution (``attention``: unsure calls need a user). ``calls`` are in the order in which
    they began, one for each call of a function; a bulk call has several ``instances``. ``states`` is {instance: state}
    and ``runtime_properties`` {instance: document} at the end. ``took_s`` is seconds of the virtual clock. ``crashes``
    is how often the engine died and was started again.
    """

    workflow: str
    status: str
    reason: str
    calls: Sequence[Called]
    states: Mapping[str, str]
    runtime_properties: Mapping[str, Mapping[str, Value]]
    took_s: float
    crashes: int = 0

    @property
    def order(self) -> list[str]:
        """The calls in order, each as ``operation instance …``, which tests compare.

        >>> from phaseline.testing.builders import blueprint, node
        >>> rehearse(blueprint(node("vm", create="cloud.make", instances=2)), bulk=True).order
        ['create vm_1 vm_2']
        """
        return [f"{called.operation} {' '.join(called.instances)}" for called in self.calls]

    @property
    def text(self) -> str:
        """The whole result as text, so that two rehearsals can be compared."""
        end = f"{self.workflow}: {self.status} after {self.took_s:g} s" + (f", {self.reason}" if self.reason else "")
        return "\n".join([end, *map(str, self.calls), "", *(f"{id}: {state}" for id, state in self.states.items())])


class Stage:
    """The environment of a rehearsal: one deployment in a store in memory, and a clock that jumps to the next event."""

    def __init__(
        self,
        topology: Topology,
        inputs: Mapping[str, Value],
        declare: Declare,
        planners: Mapping[str, Planner] = PLANNERS,
    ) -> None:
        """Store the deployment, with no instance installed."""
        self._planners = planners
        self.clock = VirtualClock(BEGINNING_MS)
        self.store = MemoryStore(self.clock, identity="rehearsal")
        self.crashes = 0
        self._declare = declare
        new = NewDeployment(
            "rehearsal", topology.blueprint, inputs, topology, CodeLocation("."), DIRECTOR, BEGINNING_MS
        )
        self.deployment, _ = self.store.create_deployment(new)

    def play(self, request: Request, script: CallScript, around: PrePost | None = None) -> ExecutionRow:
        """Run a workflow until it has ended or needs a user, and return the execution. ``around`` are its hooks."""
        new = NewExecution(self.deployment, request, DIRECTOR, self.clock.now(), around)
        row = self.store.create_execution(new)
        return self.carry_on(row, script, lambda engine: engine.submit(row))

    def retry(self, row: ExecutionRow, script: CallScript) -> ExecutionRow:
        """Retry a failed execution until it has ended again, and return the execution as it is after that."""
        return self.carry_on(row, script, lambda engine: engine.retry(row))

    def carry_on(self, row: ExecutionRow, script: CallScript, begin: Callable[[Engine], None]) -> ExecutionRow:
        """Start a new engine, call ``begin`` with it, and run it until the execution ends or needs a user; return the execution."""
        engine, plugins = self._begin(script)
        begin(engine)
        for _ in range(MOST_TURNS):
            if engine.has_ended(row.number) or engine.needs_attention(row.number):
                break
            plugins.deliver()
            try:
                engine.turn()
            except EngineDied:
                self.crashes += 1
                engine, plugins = self._begin(script)
                engine.recover()
                continue
            self._pass_time(engine, plugins)
        else:
            raise AssertionError(f"{row.id} did not end within {MOST_TURNS} turns; the last calls: {script.calls[-3:]}")
        found = self.store.execution(row.id)
        assert found is not None, "an execution that ran is stored"
        return found

    def aim_at(self, to: Blueprint, policy: RetryPolicy) -> int:
        """Store a plan of an update to this blueprint (and back to the present one after a failure), and return its number."""
        inputs, code = self.store.inputs(self.deployment), CodeLocation(".")
        now = self.store.topology(self.deployment)
        former = Aim(now.blueprint, inputs, code, suffixes=len(to.nodes) + 1, counts=now.counts)
        aim = Aim(to, inputs, code, suffixes=len(to.nodes), former=former)
        request = Request("update", retries=policy)
        plan = StoredPlan(0, self.deployment, request, self.clock.now(), DIRECTOR.name, {}, {}, "", aim)
        return self.store.stored_plans.add(plan).number

    def _begin(self, script: CallScript) -> tuple[Engine, ScheduledExecutor]:
        """Start a new engine, which becomes the owner of the store, and return it with its executor."""
        self.store.disown()
        self._owning = self.store.own("rehearsal")
        lease = self._owning.__enter__()
        engine = Engine(
            self.store,
            self.clock,
            PlainServices(
                lambda inbox, deployments: ScheduledExecutor(
                    inbox, self.clock, ScriptedAnswers(deployments, self.clock, script)
                ),
                self._declare,
                self._planners,
            ),
            lease,
        )
        assert isinstance(engine.executor, ScheduledExecutor)
        return engine, engine.executor

    def _pass_time(self, engine: Engine, plugins: ScheduledExecutor) -> None:
        """Advance the clock to the next event."""
        times = [at for at in (engine.wakes_at, plugins.next_at) if at is not None]
        if times and not engine.has_work:
            self.clock.advance_to(min(times))


def rehearse(
    application: Blueprint | str,
    workflow: str = "install",
    *,
    to: Blueprint | None = None,
    outcomes: Mapping[str, Says | Sequence[Says]] | None = None,
    inputs: Mapping[str, Value] | None = None,
    plugin_folders: Sequence[str] = (),
    parameters: Mapping[str, Value] | None = None,
    bulk: bool = False,
    repeatable: bool = True,
    task_retries: int = 3,
    retry_interval_s: float = 15.0,
    on_failure: OnFailure = "continue",
    subgraph_retries: int = 0,
    crash_in: Collection[int] = (),
    planner: Planner | None = None,
) -> Rehearsal:
    """Run a workflow on a virtual clock, without calling plugins or scripts.

    ``application``: a blueprint made with ``builders``, or the path of a file; then ``inputs`` and ``plugin_folders``
    are as for an install, and functions are treated by the declarations in their source. ``outcomes``: {operation:
    outcome}, an operation being ``create``, ``web.create`` (of a node) or ``web_1.create`` (of an instance), by its last
    part or its full name; the closest is taken, a sequence gives one outcome for each call, and calls that are not in the
    table, or come after the sequence, are completed. ``bulk``, ``repeatable``: declarations of functions without source.
    ``on_failure`` and ``subgraph_retries``: the same as the options of the workflow. ``crash_in``: numbers, from 1, of the calls
    during which the engine dies; it is started again at once. Workflows other than install begin with everything
    installed. ``planner``: the caller's own, for this workflow. ``to``: the blueprint to which ``update`` changes it.

    Raises: ``ProblemsError`` with all problems of a file.
    """
    plain = Declaration(bulk=bulk, repeatable=repeatable)
    declare: Declare = lambda _: plain  # noqa: E731 - the simplest of two ways to declare
    if isinstance(application, str):
        topology, values, declare = _read(application, inputs or {}, plugin_folders, plain)
    else:
        topology, values = expand(application), dict(inputs or {})
    own = {} if planner is None else {workflow: planner}
    stage = Stage(topology, values, declare, {"install": PLANNERS["install"], **own} if own else PLANNERS)
    policy = RetryPolicy(task_retries, retry_interval_s, subgraph_retries)
    if workflow != "install":
        stage.play(Request("install", retries=policy), CallScript({}, frozenset(), BEGINNING_MS))
    table = {key: (said,) if isinstance(said, Says) else tuple(said) for key, said in (outcomes or {}).items()}
    script = CallScript(table, frozenset(crash_in), stage.clock.now())
    asked = {**(parameters or {}), **({} if to is None else {PLAN: stage.aim_at(to, policy)})}
    stop = None if on_failure == "continue" else StopAfter(failures=0)
    row = stage.play(Request(workflow, asked, policy, stop, take_back=on_failure == "rollback"), script)
    return _rehearsed(stage, row, script)


def _rehearsed(stage: Stage, row: ExecutionRow, script: CallScript) -> Rehearsal:
    """Return the result of an execution, with instance ids that are readable in tests."""
    states, names = stage.store.states(stage.deployment).tolist(), stage.store.state_names(stage.deployment)
    documents = stage.store.documents(stage.deployment)
    after = stage.store.topology(stage.deployment)
    spelled = dict(zip(after.ids, plain_ids(after), strict=True))
    calls = [altered(called, instances=[_spelled(one, spelled) for one in called.instances]) for called in script.calls]
    here = [(spelled[id], state) for id, state, there in zip(after.ids, states, after.is_there, strict=True) if there]
    return Rehearsal(
        row.request.workflow,
        row.status.value,
        row.reason,
        tuple(calls),
        {id: state_name(state, names) for id, state in here},
        {spelled[after.ids[number]]: document for number, document in documents.items() if after.is_there[number]},
        (stage.clock.now() - script.began_at) / 1000,
        stage.crashes,
    )


def plain_ids(topology: Topology) -> list[str]:
    """Return ids that are readable in tests; a node added again under an earlier name gets a quote at the end of its ids."""
    names = [node.name for node in topology.nodes]
    again = [names[:number].count(name) for number, name in enumerate(names)]
    places = zip(topology.node.tolist(), topology.index.tolist(), strict=True)
    return [f"{names[number]}_{index}" + "'" * again[number] for number, index in places]


def _spelled(called: str, plain: Mapping[str, str]) -> str:
    """Return the readable id of an instance, or of both ends of a relationship, for ``called``."""
    return "->".join(plain.get(id, id) for id in called.split("->"))


def _read(
    file: str, inputs: Mapping[str, Value], plugin_folders: Sequence[str], plain: Declaration
) -> tuple[Topology, Mapping[str, Value], Declare]:
    """Return (instances, inputs with defaults, function that returns the declaration of an operation) of a blueprint file."""
    from phaseline.app.settings import load_settings
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.loading.blueprint_loading import load

    with open_context(load_settings(given={"store.url": "memory:"}), "rehearsal") as place:
        loaded = load(place, file, inputs=inputs, plugin_folders=plugin_folders)
        catalog = place.catalog

    def declare(operation: Operation) -> Declaration:
        return catalog.declare(operation.implementation, loaded.code) or plain

    return with_plain_ids(loaded.topology), loaded.inputs, declare
