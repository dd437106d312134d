"""Trial calls for tests: calls of invented members without an engine, with the arguments and results of a function.

The deployment behind the calls is a real one in memory. So properties, relationships, hosts and intrinsic functions are
what they would be in an engine. Nothing is stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.calls.batches.bulk_call import BulkCall
from phaseline.calls.batches.caller_registry import CallerRegistry, call_member, gathers
from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.protocol.call import ExecutionContext, Outcome, PluginCall, Site, outcome_of
from phaseline.calls.protocol.plugin_boundary import require_storable
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call
from phaseline.dsl.functions.registry import contains_functions
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.blueprint import Blueprint, Node, Relationship
from phaseline.model.blueprint.operation_declaration import declaration_of
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.runtime_properties import copy, copy_mapping
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.phases.phase_data import PHASE_DATA, data_in, phases_in
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.topology.expansion import expand

if TYPE_CHECKING:
    from phaseline.calls.batches.bulk_call import Gathers, Together
    from phaseline.calls.protocol.call import Flavour
    from phaseline.calls.protocol.phase_view import PhaseContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology

ROOT = "cloudify.nodes.Root"
CONNECTED_TO = ("cloudify.relationships.depends_on", "cloudify.relationships.connected_to")
CREATE = "cloudify.interfaces.lifecycle.create"
ESTABLISH = "cloudify.interfaces.relationship_lifecycle.establish"
RETRIES = 60
"""The default number of retries of an operation."""
NO_CODE = CodeLocation(".")
WORDS = {
    OutcomeKind.COMPLETED: "completed",
    OutcomeKind.AGAIN: "again",
    OutcomeKind.RETRY: "retry",
    OutcomeKind.FAILED: "failed",
    OutcomeKind.UNSURE: "unsure",
}


@frozen
class Subject:
    """An invented node instance. Members with the same node name and equal properties are instances of one node."""

    node: str = "thing"
    properties: Mapping[str, Value] = field(default_factory=dict)
    runtime_properties: Mapping[str, Value] = field(default_factory=dict)
    type: str = ROOT


@frozen
class TrialMember:
    """The arguments of one member of a trial call.

    With a ``target`` a relationship operation is called, on this ``side``. ``attempt`` is the number of retries so far,
    ``data`` what an earlier call of the entry left, ``phase_data`` what the phase keeps with the resource.
    """

    subject: Subject = Subject()
    inputs: Mapping[str, Value] = field(default_factory=dict)
    attempt: int = 0
    data: Value = None
    target: Subject | None = None
    side: Literal["source", "target"] = "source"
    is_canceled: bool = False
    phase_data: Mapping[str, Value] = field(default_factory=dict)


@frozen
class Tried:
    """The result of one member of a trial call.

    ``outcome`` is ``completed``, ``again`` (after ``after_s``), ``retry`` (failed, tried again after ``after_s``, or
    after the operation's interval if None), ``failed``, or ``unsure`` (``find`` could not decide what an earlier call
    created). ``runtime_properties`` are those of the instance as stored, ``data`` is for the next call. ``lines`` are
    (level, text) of the log. ``result`` is what a function with ctx returned, ``phase_data`` what the phase stores with
    the resource. ``raised`` is the exception of the function in this member's call, if exceptions are kept.
    """

    instance: str
    outcome: Literal["completed", "again", "retry", "failed", "unsure"]
    message: str = ""
    after_s: float | None = None
    error: str = ""
    traceback: str = ""
    runtime_properties: Mapping[str, Value] = field(default_factory=dict)
    data: Value = None
    lines: Sequence[tuple[str, str]] = ()
    result: Value = None
    phase_data: Mapping[str, Value] = field(default_factory=dict)
    raised: BaseException | None = None

    @property
    def is_good(self) -> bool:
        """True if the member completed, or asked to be called again."""
        return self.outcome in {"completed", "again"}


class Trial:
    """Invented members and the calls for them; implements ``Channel`` for these calls."""

    def __init__(
        self,
        members: Sequence[TrialMember],
        *,
        code: CodeLocation = NO_CODE,
        implementation: str = "",
        phase: PhaseContext | None = None,
        is_doubted: bool = False,
        keeps_raised: bool = False,
    ) -> None:
        """``implementation`` is a name to show for the function; it is never imported. ``phase`` is the called phase.

        With ``is_doubted`` earlier calls have an unknown end. With ``keeps_raised`` exceptions of functions are kept as
        objects, not only as text; tracebacks of functions with ctx then show one more frame.
        """
        self.members = members
        self.saved: dict[int, dict[str, Value]] = {}
        self._on_the_way: dict[int, dict[str, Value]] = {}
        self._phase, self._is_doubted, self._keeps_raised = phase, is_doubted, keeps_raised
        self._raised: dict[int, BaseException] = {}
        self.lines: list[list[tuple[str, str]]] = [[] for _ in members]
        self.function: Callable[..., object] | None = None
        self._code, self._implementation = code, implementation
        self._ids: list[tuple[str, str]] = []
        self._nodes: dict[str, Node] = {}
        self._counts: dict[str, int] = {}
        self._documents: dict[str, dict[str, Value]] = {}
        for member in members:
            self._ids.append(self._place(member))
            self._keep_phase_data(self._ids[-1][0], member.phase_data)
        self.deployment = self._deployment()
        self._calls: dict[int, PluginCall] = {}

    # -- the deployment -----------------------------------------------------------------------------------------

    def _place(self, member: TrialMember) -> tuple[str, str]:
        """Return (id of the member's instance, id of the target's instance or '')."""
        if member.target is None:
            return self._instance(member.subject, ()), ""
        target = self._instance(member.target, (), is_alone=True)
        relationship = Relationship(CONNECTED_TO[-1], CONNECTED_TO, target.rpartition("_")[0], {}, {}, {})
        return self._instance(member.subject, (relationship,)), target

    def _instance(self, subject: Subject, relationships: tuple[Relationship, ...], *, is_alone: bool = False) -> str:
        """Add an instance and return its id. Its node has exactly these properties and relationships.

        Instances with equal properties share a node, but an instance that ``is_alone`` gets a new node.
        """
        alike = json.dumps([subject.type, subject.properties, [item.target for item in relationships]], default=repr)
        key = f"{subject.node} {len(self._nodes) if is_alone else alike}"
        node = self._nodes.get(key)
        if node is None:
            name = self._free_name(subject.node)
            node = self._nodes[key] = Node(
                name,
                subject.type,
                (ROOT,) if subject.type == ROOT else (ROOT, subject.type),
                copy_mapping(subject.properties),
                {},
                relationships,
                has_functions=contains_functions(dict(subject.properties)),
            )
        count = self._counts[node.name] = self._counts.get(node.name, 0) + 1
        id = f"{node.name}_{count}"
        self._documents[id] = copy_mapping(subject.runtime_properties)
        return id

    def _keep_phase_data(self, id: str, data: Mapping[str, Value]) -> None:
        """Store the data that the called phase keeps with a resource."""
        if self._phase is None or not data:
            return
        document = self._documents[id]
        document[PHASE_DATA] = {**phases_in(document), self._phase.name: copy_mapping(data)}

    def _free_name(self, wanted: str) -> str:
        """Return the name, or the name with the first number that makes it unique."""
        numbered = (f"{wanted}{number}" for number in range(2, len(self._nodes) + 3))
        return next(name for name in (wanted, *numbered) if name not in self._counts)

    def _deployment(self) -> LoadedDeployment:
        nodes = {node.name: altered(node, default_instances=self._counts[node.name]) for node in self._nodes.values()}
        blueprint = Blueprint("cloudify_dsl_1_3", "trial.yaml", ".", nodes)
        topology = with_plain_ids(expand(blueprint, suffixes=0))
        documents = {topology.number_of[id]: document for id, document in self._documents.items()}
        return LoadedDeployment(
            1,
            "trial",
            blueprint=blueprint,
            topology=topology,
            code=self._code,
            inputs={},
            documents=documents,
            states=np.full(len(topology), InstanceState.CREATING, np.uint8),
        )

    # -- calls --------------------------------------------------------------------------------------------------

    def call_at(self, place: int) -> PluginCall:
        """Return the call of the member with this index; repeated requests return the same object."""
        found = self._calls.get(place)
        if found is None:
            found = self._calls[place] = self._make_call(place)
        return found

    def _make_call(self, place: int) -> PluginCall:
        member, (id, target) = self.members[place], self._ids[place]
        view = self.deployment.instance(id)
        other = self.deployment.instance(target) if target else None
        side = member.side if other else "node"
        relationship = view.relationships[0] if other else None
        execution = ExecutionContext("trial-1", "install", creator="nobody")
        site = Site(
            ESTABLISH if other else CREATE,
            "function",
            self._implementation,
            execution,
            self.deployment.view,
            side=side,
            relationship=relationship,
            max_retries=RETRIES,
            phase=self._phase,
        )
        instance, source = (None, view) if other else (view, None)
        data = copy(member.data)
        call = PluginCall(site, place, member.attempt, self, self.deployment, instance, source, other, data)
        call.is_doubted = self._is_doubted
        return call

    def call(self, function: Callable[..., object], callers: CallerRegistry) -> list[Tried]:
        """Call a function for all members as an engine would, and return the result of each."""
        self.function = function
        declaration = declaration_of(function)
        count = len(self.members)
        flavour: Flavour = "cloudify" if declaration is None else declaration.flavour
        if declaration is not None and declaration.bulk and gathers(flavour):
            doubted = range(count) if self._is_doubted else ()
            together = callers.gather(flavour, BulkCall(count, self.call_at, self.say, (), doubted))
            _, raised = guarded_call(call_and_await, together.code(function))
            self._keep_raised(range(count), together, raised)
            settled = together.settle(raised)
            return [self.tried(place, settled.outcome_at(place)) for place in range(count)]
        if declaration is not None and gathers(flavour):
            return [self._call_one(place, function, flavour, callers) for place in range(count)]
        return [self.tried(place, call_member(self.call_at(place), flavour, callers)) for place in range(count)]

    def _call_one(
        self, place: int, function: Callable[..., object], flavour: Gathers, callers: CallerRegistry
    ) -> Tried:
        """Call a function that takes one member, as a call of one member."""
        call = self.call_at(place)
        remembered = () if call.data is None else (0,)
        doubted = (0,) if self._is_doubted else ()
        together = callers.gather(flavour, BulkCall(1, lambda _: call, call.log, remembered, doubted))
        _, raised = guarded_call(call_and_await, together.code(function))
        self._keep_raised([place], together, raised)
        return self.tried(place, together.settle_only(raised))

    def _keep_raised(self, places: Iterable[int], together: Together, raised: BaseException | None) -> None:
        """Keep an exception of the function, or of ``find(items)``, which is called before it."""
        found = raised or getattr(together, "find_raised", None)
        if found is not None and self._keeps_raised:
            self._raised.update(dict.fromkeys(places, found))

    def tried(self, place: int, outcome: Outcome) -> Tried:
        """Return the result of a member, with its runtime properties and data as they would be stored."""
        call = self.call_at(place)
        data: Value = None
        try:
            self.deployment.changes(call.subjects)
            data = require_storable(call.data, "data")
        except ProblemsError as error:
            outcome = outcome_of(error)
        for view in call.subjects:
            view.refresh()
        is_open = outcome.kind in {OutcomeKind.AGAIN, OutcomeKind.RETRY}
        document = self.deployment.document(call.owner)
        return Tried(
            instance=call.owner.id,
            outcome=WORDS[outcome.kind],  # type: ignore[arg-type]  # one of the words of the field
            message=outcome.message,
            after_s=outcome.delay_ms / 1000 if outcome.delay_ms >= 0 and is_open else None,
            error=outcome.error.get("type", ""),
            traceback=outcome.error.get("traceback", ""),
            runtime_properties=copy_mapping(document),
            data=data if is_open else None,
            lines=tuple(self.lines[place]),
            result=outcome.result,
            phase_data={} if self._phase is None else copy_mapping(data_in(document, self._phase.name)),
            raised=self._raised.get(place),
        )

    # -- reports and queries of calls ---------------------------------------------------------------------------------

    def log(self, call: PluginCall, level: str, text: str) -> None:
        """Keep one log line."""
        self.lines[call.member].append((level, text))

    def log_lines(self, call: PluginCall, level: str, lines: Sequence[str]) -> bool:
        """Keep many log lines."""
        self.lines[call.member].extend((level, line) for line in lines)
        return True

    def say(self, level: str, text: str) -> None:
        """Keep one log line about the call as a whole, with its first member."""
        self.lines[0].append((level, text))

    def tell(self, call: PluginCall, message: str) -> None:
        """Ignore progress: a trial shows only results."""

    def save(self, call: PluginCall, *, wait: bool = False) -> None:
        """Treat the present runtime properties as stored.

        ``wait``: copy all that are stored so far to ``saved``, which is what a crash would leave.
        """
        self.deployment.changes(call.subjects)
        for view in call.subjects:
            view.settle()
        self._on_the_way[call.member] = copy_mapping(self.deployment.document(call.owner))
        if wait:
            self.saved.update(self._on_the_way)

    def save_unless_stale(self, call: PluginCall) -> bool:
        """Save and return True, because nothing else can change the instances in a trial."""
        self.save(call)
        return True

    def is_canceled(self, call: PluginCall) -> bool:
        """Return the value that was set for the trial."""
        return self.members[call.member].is_canceled

    def on_kill(self, call: PluginCall, end: Callable[[], object]) -> None:
        """Do nothing: trial calls are not killed."""

    def load(self, call: PluginCall) -> Callable[..., object]:
        """Return the function that is being tried."""
        function = self.function
        assert function is not None, "nothing is called before there is a function"
        if not self._keeps_raised or declaration_of(function) is not None:
            return function

        def keeping(**given: object) -> object:
            try:
                return function(**given)
            except (Exception, SystemExit) as error:
                self._raised[call.member] = error
                raise

        return keeping

    def inputs(self, call: PluginCall) -> dict[str, Value]:
        """Return the given inputs, with intrinsic functions evaluated."""
        given = copy_mapping(self.members[call.member].inputs)
        if not contains_functions(given):
            return given
        return {name: self.deployment.evaluate(value, call) for name, value in given.items()}

    def token(self, call: PluginCall) -> str:
        """Return a token that is equal in all trials of equal members."""
        return f"trial-1-{call.member}-0"


def with_plain_ids(topology: Topology) -> Topology:
    """Return the topology with simple instance ids for tests, such as ``web_1``."""
    names = [node.name for node in topology.nodes]
    places = zip(topology.node.tolist(), topology.index.tolist(), strict=True)
    ids = [f"{names[number]}_{index}" for number, index in places]
    return altered(topology, ids=ids)
