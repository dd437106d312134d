"""The interface between executors and callers: the call of one member, for every flavour of code.

An executor makes a ``PluginCall`` for a member and gives it to the ``Caller`` of its flavour: ``native`` (an
item), ``cloudify`` (a function with ctx), ``script`` (a file or text run as a process), ``phase`` (a handler). The same callers
run in the engine's threads and inside worker processes; what differs is the ``Channel`` and the ``DeploymentLookup``
behind the call. A caller changes ``runtime_properties`` of the views in place; the executor compares them
with what they were when the call has returned (C4), after an exception too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.calls.protocol.plugin_boundary import (
    changed,
    exception_text,
    message_of,
    milliseconds,
    text_of,
    trace_of,
)
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.runtime_properties import copy_mapping
from phaseline.model.execution.pre_post import DeploymentCallKind, PrePost
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.phases.phase_data import attributes_in
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from phaseline.calls.protocol.hook_lookup import HookLookup
    from phaseline.calls.protocol.phase_view import PhaseContext
    from phaseline.model.blueprint.blueprint import Plugin, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.execution.pre_post import PinnedHookClass
    from phaseline.model.phases.definitions import PhaseCode

MAX_MESSAGE_CHARS = 10_000
"""Longest message kept of one call; the rest is cut in the middle."""
MAX_TRACEBACK_CHARS = 20_000
"""Longest traceback kept of one call."""
MAX_LINE_CHARS = 10_000
"""Longest line of a log."""
MAX_LINES = 20_000
"""The most log lines of one call; one more line reports that the rest was dropped."""

Flavour = Literal["native", "cloudify", "script", "phase", "hook", "task"]


@frozen
class NodeContext:
    """A node as plugin code sees it: ``properties`` are evaluated and must not be changed."""

    name: str
    type: str
    type_hierarchy: tuple[str, ...]
    properties: Mapping[str, Value]
    instance_count: int = 1


@frozen
class RelationshipContext:
    """One relationship instance seen from its source; ``target`` is an instance id (see ``DeploymentLookup.instance``)."""

    type: str
    type_hierarchy: tuple[str, ...]
    properties: Mapping[str, Value]
    target: str


class DeploymentLookup(Protocol):
    """Look-ups in the deployment during a call, answered from memory or through the worker's pipe."""

    def instance(self, id: str) -> InstanceContext:
        """The instance of this id. ``KeyError`` if there is none."""
        ...

    def node(self, instance: InstanceContext) -> NodeContext:
        """The node of an instance, properties evaluated for that instance."""
        ...

    def document(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Runtime properties of an instance as they are known now; never to be changed."""
        ...

    def relationships(self, instance: InstanceContext) -> tuple[RelationshipContext, ...]:
        """Relationship instances whose source it is, in template order."""
        ...

    def host(self, instance: InstanceContext) -> str | None:
        """The id of the innermost host that contains the instance; a host contains itself."""
        ...

    def instances_of(self, node: str) -> Sequence[str]:
        """Ids of the instances of a node, by index."""
        ...

    def state(self, instance: InstanceContext) -> str:
        """The state of the instance, such as ``started``."""
        ...

    def system_properties(self, instance: InstanceContext) -> Mapping[str, Value]:
        """The check results of the instance: ``status``, ``configuration_drift`` and others."""
        ...

    def evaluate(self, value: Value, call: PluginCall) -> Value:
        """The value with its intrinsic functions evaluated as seen by a call. Raises ``ProblemsError``."""
        ...

    def secret(self, name: str) -> str:
        """The text of a secret, which is then masked in everything that is written. Raises: ``KeyError`` if it is unknown."""
        ...


class InstanceContext:
    """One node instance as a call sees it; everything beyond its id is looked up when touched."""

    __slots__ = ("_before", "_changes", "_node", "_runtime", "id", "index", "number", "world")

    def __init__(self, id: str, index: int, number: int, world: DeploymentLookup) -> None:
        """``index`` counts the instances of a node from 1, ``number`` those of the deployment from 0."""
        self.id = id
        self.index = index
        self.number = number
        self.world = world
        self._node: NodeContext | None = None
        self._before: Mapping[str, Value] | None = None
        self._runtime: dict[str, Value] | None = None
        self._changes: tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]] | None = None

    @property
    def node(self) -> NodeContext:
        """The node of the instance, with evaluated properties."""
        if self._node is None:
            self._node = self.world.node(self)
        return self._node

    @property
    def runtime_properties(self) -> dict[str, Value]:
        """A copy of its own that may be changed; the changes of a call's subjects are stored after the call.

        What phases keep with the instance is not in it.
        """
        if self._runtime is None:
            self._before = attributes_in(self.world.document(self))
            self._runtime = copy_mapping(self._before)
        return self._runtime

    @runtime_properties.setter
    def runtime_properties(self, value: Mapping[str, Value]) -> None:
        """Replace the whole document."""
        if self._before is None:
            self._before = attributes_in(self.world.document(self))
        self._runtime = dict(value)

    def change(self, written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath]) -> None:
        """Have just these paths stored after the call: all that they do not name stays as others write it meanwhile.

        The values must be storable, and are not to be changed any more.
        """
        self._before = self.world.document(self)
        self._changes = dict(written), tuple(removed)

    @property
    def changes(self) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]] | None:
        """({path: value written}, paths removed) given to ``change``; None: what differs in the document counts."""
        return self._changes

    @property
    def before(self) -> Mapping[str, Value] | None:
        """The document as first read by this call, or None when it was never touched."""
        return self._before

    def settle(self) -> None:
        """Take the present document as stored: later comparisons begin here."""
        self._changes = None
        self._before = None if self._runtime is None else copy_mapping(self._runtime)

    def refresh(self) -> None:
        """Drop the values read so far; the next access reads the present ones."""
        self._before = self._runtime = self._node = self._changes = None

    @property
    def relationships(self) -> tuple[RelationshipContext, ...]:
        """Relationship instances whose source it is, in template order."""
        return self.world.relationships(self)

    @property
    def state(self) -> str:
        """The state of the instance, such as ``started``."""
        return self.world.state(self)

    @property
    def host(self) -> str | None:
        """The id of the innermost host that contains the instance; a host contains itself."""
        return self.world.host(self)


@frozen
class ExecutionContext:
    """The execution a call belongs to. ``decisions``: {instance id: what hooks decided for it}; ``around``: what surrounds it;
    ``ground``: what its hooks may look up besides, None where it has none.
    """

    id: str
    workflow: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    creator: str = ""
    tenant: str = "default_tenant"
    is_resumed: bool = False
    decisions: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    around: PrePost = PrePost()
    ground: HookLookup | None = None


@frozen
class DeploymentContext:
    """The deployment a call belongs to. ``blueprint`` is the name of its file without suffix; ``code`` finds files and plugins."""

    id: str
    blueprint: str
    code: CodeLocation
    inputs: Mapping[str, Value] = field(default_factory=dict)
    creator: str = ""
    description: str = ""
    display_name: str = ""
    resource_tags: Mapping[str, Value] = field(default_factory=dict)
    runtime_only: bool = False


@frozen
class Site:
    """What all calls of one operation of one node (or relationship) in one execution have in common.

    ``form`` and ``implementation`` as in ``model.blueprint.blueprint.Operation``: for ``script`` a path relative to
    the blueprint's folder or a URL, for ``inline`` the text itself. ``relationship`` is set for relationship
    operations (then the call has ``source`` and ``target``). ``max_retries`` -1: without end. ``phase``: for a phase of a
    state, with its ``phase_code``; an operation whose function is a phase plugin's has none, and is a phase of its own name.
    ``hook``: the hook class, for a call of one.
    """

    operation: str
    form: Literal["function", "script", "inline"]
    implementation: str
    execution: ExecutionContext
    deployment: DeploymentContext
    plugin: Plugin | None = None
    side: Literal["node", "source", "target"] = "node"
    relationship: RelationshipContext | None = None
    max_retries: int = 0
    timeout_s: float = 0
    timeout_recoverable: bool = False
    phase: PhaseContext | None = None
    phase_code: PhaseCode | None = None
    hook: PinnedHookClass | None = None


class Channel(Protocol):
    """The reports and queries of a running call; safe from any thread."""

    def log(self, call: PluginCall, level: str, text: str) -> None:
        """Keep one line of text (levels ``debug info warning error``), shown live."""
        ...

    def log_lines(self, call: PluginCall, level: str, lines: Sequence[str]) -> bool:
        """``log`` of many; False where the call has left as many as it may, so that no more are wanted."""
        ...

    def save(self, call: PluginCall, *, wait: bool = False) -> None:
        """Store the runtime properties of its subjects as they are now, without waiting for the call's end.

        ``wait``: return when they, and all that was saved before, outlive this process.
        """
        ...

    def save_unless_stale(self, call: PluginCall) -> bool:
        """``save``, unless the subjects were changed elsewhere since the call read them (then False)."""
        ...

    def tell(self, call: PluginCall, message: str) -> None:
        """Show how far it is, without waiting for the call's end; together with its ``data``."""
        ...

    def is_canceled(self, call: PluginCall) -> bool:
        """True when a user canceled it; it may end early."""
        ...

    def on_kill(self, call: PluginCall, end: Callable[[], object]) -> None:
        """Register ``end``, which interrupts the call from any thread; it is called as soon as a user requests it."""
        ...

    def load(self, call: PluginCall) -> Callable[..., object]:
        """The function of a call's site, imported from the deployment's code places. Raises what the import raises."""
        ...

    def inputs(self, call: PluginCall) -> dict[str, Value]:
        """The evaluated inputs of a call, a copy of its own. Raises ``ProblemsError`` for what cannot be evaluated."""
        ...

    def token(self, call: PluginCall) -> str:
        """The token of the call, equal for all attempts of one entry until a user retries it."""
        ...


class PluginCall:
    """One call of one member. Its contexts are ``instance``, or ``source`` and ``target``; none for the deployment itself.

    ``attempt``: retries so far; of a hook class calls that ended unseen count, too. ``is_doubted``: the previous call
    ended unseen. ``why``: the kind of a call of the deployment itself. In a worker ``os.environ`` holds ``PHASELINE_CALL``;
    every process that the call starts must inherit it: by it processes are found again and ended after a
    time-out or the engine's death.
    """

    __slots__ = (
        "_inputs", "attempt", "channel", "data", "instance", "is_doubted", "member", "site", "source", "target", "why", "world",
    )  # fmt: skip

    def __init__(
        self,
        site: Site,
        member: int,
        attempt: int,
        channel: Channel,
        world: DeploymentLookup,
        instance: InstanceContext | None = None,
        source: InstanceContext | None = None,
        target: InstanceContext | None = None,
        data: Value = None,
    ) -> None:
        """``member`` is its place in the batch, ``data`` what an earlier call of the entry left for this one."""
        self.site = site
        self.member = member
        self.attempt = attempt
        self.channel = channel
        self.world = world
        self.instance = instance
        self.source = source
        self.target = target
        self.data = data
        self.is_doubted = False
        self.why = DeploymentCallKind.BEFORE
        self._inputs: dict[str, Value] | None = None

    @property
    def inputs(self) -> dict[str, Value]:
        """Its inputs, evaluated when first read; they belong to this call alone (C2). Raises ``ProblemsError``."""
        if self._inputs is None:
            self._inputs = self.channel.inputs(self)
        return self._inputs

    @property
    def settings(self) -> Mapping[str, Value]:
        """The deployment's settings for a task of a package; empty for other calls."""
        return {}

    @property
    def token(self) -> str:
        """Equal for all attempts of one entry until a user retries it; for use as a cloud's client token."""
        return self.channel.token(self)

    @property
    def owner(self) -> InstanceContext:
        """The instance whose operation it is: of a relationship the side that is called."""
        found = self.instance or (self.target if self.site.side == "target" else self.source)
        assert found is not None
        return found

    @property
    def subjects(self) -> tuple[InstanceContext, ...]:
        """The instances whose runtime properties are stored after the call."""
        if self.instance is not None:
            return (self.instance,)
        return tuple(view for view in (self.source, self.target) if view is not None)

    @property
    def is_touched(self) -> bool:
        """True when the runtime properties of a subject were looked at, so that they may have changed."""
        if self.instance is not None:
            return self.instance.before is not None
        return any(view.before is not None for view in self.subjects)

    def log(self, level: str, text: str) -> None:
        """Keep one line of text, shown live."""
        self.channel.log(self, level, text)

    def log_lines(self, level: str, lines: Sequence[str]) -> bool:
        """``log`` of many; False: no more are wanted."""
        return self.channel.log_lines(self, level, lines)

    def save(self, *, wait: bool = False) -> None:
        """Store the runtime properties as they are now; ``wait`` until they outlive this process."""
        self.channel.save(self, wait=wait)

    def save_unless_stale(self) -> bool:
        """``save``, unless the subject was changed elsewhere since it was read (then False, and nothing is stored)."""
        return self.channel.save_unless_stale(self)

    def tell(self, message: str) -> None:
        """Show how far it is."""
        self.channel.tell(self, message)

    @property
    def is_canceled(self) -> bool:
        """True when a user canceled it."""
        return self.channel.is_canceled(self)

    def on_kill(self, end: Callable[[], object]) -> None:
        """``end`` cuts it short, from any thread: called as soon as a user wants that."""
        self.channel.on_kill(self, end)

    def load(self) -> Callable[..., object]:
        """The function of a ``function`` site. Raises what the import raises."""
        return self.channel.load(self)


@frozen
class Outcome:
    """The result of one call. ``delay_ms``: until the next call, -1: the policy's interval. ``error``: {type, traceback}."""

    kind: OutcomeKind
    delay_ms: int = -1
    message: str = ""
    error: Mapping[str, str] = field(default_factory=dict)
    result: Value = None


COMPLETED = Outcome(OutcomeKind.COMPLETED)
"""The commonest outcome, made once."""


class Caller(Protocol):
    """Calls code of one flavour. Never raises what plugin code raised: that becomes an outcome (``outcome_of``)."""

    def call(self, call: PluginCall) -> Outcome:
        """Run the member to its end and return its outcome."""
        ...


def outcome_of(error: BaseException, *, hidden_frames: int = 0) -> Outcome:
    """What an exception of plugin code means (W2): fail, or retry after its ``retry_after`` or the interval.

    A problem (inputs that cannot be evaluated) is not retried. The exception classes of foreign
    interfaces derive from those of Phaseline. ``hidden_frames``: the number of innermost frames of Phaseline that
    the traceback need not show. ``sys.exit`` fails the call, because the process is the engine's and a retry is unlikely to help.
    """
    is_final = isinstance(error, NonRecoverableError | ProblemsError | SystemExit)
    after = getattr(error, "retry_after", None) if isinstance(error, RecoverableError) else None
    delay_ms, wrong = (-1, None) if after is None else guarded_call(milliseconds, after)
    return Outcome(
        OutcomeKind.FAILED if is_final or wrong is not None else OutcomeKind.RETRY,
        delay_ms=-1 if delay_ms is None else delay_ms,
        message=truncate(
            "; ".join(exception_text(each) for each in (error, wrong) if each is not None), MAX_MESSAGE_CHARS
        ),
        error={
            "type": type(error).__name__,
            "traceback": truncate(_traceback(error, hidden_frames), MAX_TRACEBACK_CHARS),
        },
    )


def _traceback(error: BaseException, hidden_frames: int) -> str:
    frames = error.__traceback__
    for _ in range(hidden_frames):
        frames = frames.tb_next if frames is not None and frames.tb_next is not None else frames
    return trace_of(error, frames)


def truncate(said: object, limit: int) -> str:
    """The value as text, shortened in the middle to the limit, with a note of how much was cut."""
    text = said if type(said) is str else text_of(said)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"


def unloadable(error: BaseException, implementation: str) -> Outcome:
    """The outcome of a function that cannot be imported, not found or not callable (W2)."""
    wrapped = NonRecoverableError(f"'{implementation}' cannot be loaded: {type(error).__name__}: {message_of(error)}")
    return outcome_of(wrapped.with_traceback(error.__traceback__))


def written_of(view: InstanceContext) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]]:
    """({path: value written}, paths removed) of a view that was touched. Raises PL-O034 for what cannot be stored."""
    if view.before is None:
        return {}, ()
    return view.changes or changed(view.before, view.runtime_properties)
