"""The interface between executors and callers: the call of one member, for every flavour of code.

An executor makes a ``PluginCall`` for a member and gives it to the ``Caller`` of its flavour: ``native`` (an item),
``cloudify`` (a function with ctx), ``script`` (a file or text run as a process), ``phase`` (a handler). The same
callers run in the engine's threads and in worker processes, with another ``Channel`` and ``DeploymentLookup`` behind
the call. Plugin code changes ``runtime_properties`` of the views in place. After the call, even one that raised, the
executor compares them with their former values (C4).
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
from phaseline.model.rows.rows import DEFAULT_TENANT

if TYPE_CHECKING:
    from phaseline.calls.protocol.hook_lookup import HookLookup
    from phaseline.calls.protocol.phase_view import PhaseContext
    from phaseline.dsl.functions.other_deployments import CapabilityReads
    from phaseline.model.blueprint.blueprint import Plugin, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.execution.pre_post import PinnedHookClass
    from phaseline.model.phases.definitions import PhaseCode
    from phaseline.model.rows.follow_ups import FollowUp

MAX_MESSAGE_CHARS = 10_000
"""The most characters kept of a call's message; a longer one is cut in the middle."""
MAX_TRACEBACK_CHARS = 20_000
"""The most characters kept of a call's traceback."""
MAX_LINE_CHARS = 10_000
"""The most characters of a log line."""
MAX_LINES = 20_000
"""The most log lines of one call; one more line reports that further lines were dropped."""

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
    """One relationship instance as its source sees it; ``target`` is the id of the target instance."""

    type: str
    type_hierarchy: tuple[str, ...]
    properties: Mapping[str, Value]
    target: str


class DeploymentLookup(Protocol):
    """Look-ups in the deployment during a call, answered from memory or by the engine through a worker's socket."""

    def instance(self, id: str) -> InstanceContext:
        """Return the instance with this id. Raises ``KeyError`` if there is none."""
        ...

    def node(self, instance: InstanceContext) -> NodeContext:
        """Return the node of an instance, with properties evaluated for that instance."""
        ...

    def document(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Return the present runtime properties of an instance; callers must not change them."""
        ...

    def relationships(self, instance: InstanceContext) -> tuple[RelationshipContext, ...]:
        """Return the relationship instances whose source is this instance, in template order."""
        ...

    def host(self, instance: InstanceContext) -> str | None:
        """Return the id of the innermost host that contains the instance, or None. A host contains itself."""
        ...

    def instances_of(self, node: str) -> Sequence[str]:
        """Return the ids of a node's instances, by index."""
        ...

    def state(self, instance: InstanceContext) -> str:
        """Return the state of the instance, such as ``started``."""
        ...

    def system_properties(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Return the check results of the instance: ``status``, ``configuration_drift`` and others."""
        ...

    def evaluate(self, value: Value, call: PluginCall) -> Value:
        """Return the value with intrinsic functions evaluated from the call's viewpoint. Raises ``ProblemsError``."""
        ...

    def secret(self, name: str) -> str:
        """Return the text of a secret, masked in all that is written later. Raises: ``KeyError`` if it is unknown."""
        ...


class InstanceContext:
    """One node instance as a call sees it; everything except its id is looked up when it is used."""

    __slots__ = ("_before", "_changes", "_node", "_runtime", "id", "index", "number", "reads", "world")
    reads: Callable[[], CapabilityReads]  # set only if the blueprint reads other deployments; shared by a batch

    def __init__(self, id: str, index: int, number: int, world: DeploymentLookup) -> None:
        """``index`` counts the instances of the node from 1, ``number`` the instances of the deployment from 0."""
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
        """The runtime properties, as a copy that may be changed; after a call, changes of its subjects are stored.

        Data that phases keep with the instance is left out.
        """
        if self._runtime is None:
            self._before = attributes_in(self.world.document(self))
            self._runtime = copy_mapping(self._before)
        return self._runtime

    @runtime_properties.setter
    def runtime_properties(self, value: Mapping[str, Value]) -> None:
        """Replace all runtime properties."""
        if self._before is None:
            self._before = attributes_in(self.world.document(self))
        self._runtime = dict(value)

    def change(self, written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath]) -> None:
        """Store changes of only these paths after the call; other paths keep what others write meanwhile.

        The values must be storable, and must not be changed afterwards.
        """
        self._before = self.world.document(self)
        self._changes = dict(written), tuple(removed)

    @property
    def changes(self) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]] | None:
        """The changes given to ``change``: ({path: value written}, paths removed). None if ``change`` was not used.

        If it is None, the changes are found by comparing the document with ``before``.
        """
        return self._changes

    @property
    def before(self) -> Mapping[str, Value] | None:
        """The runtime properties as this call first read them, or None if it has not used them."""
        return self._before

    def settle(self) -> None:
        """Treat the present runtime properties as stored: later comparisons begin with them."""
        self._changes = None
        self._before = None if self._runtime is None else copy_mapping(self._runtime)

    def refresh(self) -> None:
        """Drop the values read so far; the next access reads the present values."""
        self._before = self._runtime = self._node = self._changes = None

    @property
    def relationships(self) -> tuple[RelationshipContext, ...]:
        """The relationship instances whose source is this instance, in template order."""
        return self.world.relationships(self)

    @property
    def state(self) -> str:
        """The state of the instance, such as ``started``."""
        return self.world.state(self)

    @property
    def host(self) -> str | None:
        """The id of the innermost host that contains the instance, or None. A host contains itself."""
        return self.world.host(self)


@frozen
class ExecutionContext:
    """The execution that a call belongs to. ``decisions`` is {instance id: decisions of hooks}. ``around`` is what runs
    before and after the execution. ``ground`` has the look-ups that hooks may use, None if there are no hooks.
    """

    id: str
    workflow: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    creator: str = ""
    tenant: str = DEFAULT_TENANT
    is_resumed: bool = False
    decisions: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    around: PrePost = PrePost()
    ground: HookLookup | None = None


@frozen
class DeploymentContext:
    """The deployment of a call. ``blueprint`` is its file's name without suffix, ``code`` the location of the code."""

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
    """The data shared by all calls of one operation of one node or relationship in one execution.

    ``form`` and ``implementation`` are those of ``model.blueprint.blueprint.Operation``: for ``script`` a path relative
    to the blueprint's folder or a URL, for ``inline`` the text itself. ``relationship`` is set for operations of
    relationships; their calls have ``source`` and ``target``. ``max_retries`` is -1 for unlimited retries. ``phase``
    and ``phase_code`` are set for a phase of a state, but not for an operation whose function is a phase plugin.
    ``hook`` is the hook class, for a call of a hook.
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
    """The connection of a running call to the engine, to log, save and query. Thread-safe."""

    def log(self, call: PluginCall, level: str, text: str) -> None:
        """Store one log line (level ``debug``, ``info``, ``warning`` or ``error``), which users can follow live."""
        ...

    def log_lines(self, call: PluginCall, level: str, lines: Sequence[str]) -> bool:
        """Store log lines of one level. Return False once the call has reached its limit, from which lines are dropped."""
        ...

    def save(self, call: PluginCall, *, wait: bool = False) -> None:
        """Store the present runtime properties of the call's subjects before the call ends.

        With ``wait``, return when these and all earlier changes outlive this process.
        """
        ...

    def save_unless_stale(self, call: PluginCall) -> bool:
        """Save, unless the subjects were changed elsewhere since the call read them; then return False."""
        ...

    def tell(self, call: PluginCall, message: str) -> None:
        """Show a progress message to users and store the call's ``data``, before the call ends."""
        ...

    def is_canceled(self, call: PluginCall) -> bool:
        """Return True when a user has canceled the call, which may then end early."""
        ...

    def on_kill(self, call: PluginCall, end: Callable[[], object]) -> None:
        """Register ``end``, which interrupts the call from any thread; it is called as soon as a user requests it."""
        ...

    def load(self, call: PluginCall) -> Callable[..., object]:
        """Return the function of a call's site, imported from the deployment's code. Raises what the import raises."""
        ...

    def inputs(self, call: PluginCall) -> dict[str, Value]:
        """Return the evaluated inputs of a call, as a copy that it may change. Raises ``ProblemsError``."""
        ...

    def token(self, call: PluginCall) -> str:
        """Return the token of the call, equal for all attempts of one entry until a user retries it."""
        ...


class PluginCall:
    """One call of one member. It has an ``instance``, or ``source`` and ``target``, or none for the deployment itself.

    ``attempt`` is the number of retries so far; for a hook, calls with an unknown end count too. ``is_doubted`` means
    that the end of the previous call is unknown. ``why`` is the reason of a call of the deployment itself. In
    a worker, ``os.environ`` contains ``PHASELINE_CALL``. Every process that the call starts must inherit it, because it
    is used to find and end the processes after a time-out or the engine's death.
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
        """``member`` is the index in the batch, ``data`` what an earlier call of the entry left for this call."""
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
        """The inputs, evaluated when first read; they belong to this call alone (C2). Raises ``ProblemsError``."""
        if self._inputs is None:
            self._inputs = self.channel.inputs(self)
        return self._inputs

    @property
    def settings(self) -> Mapping[str, Value]:
        """The deployment's settings for a task of a package; empty for other calls."""
        return {}

    @property
    def token(self) -> str:
        """A text that is equal for all attempts of one entry until a user retries it; for use as a client token."""
        return self.channel.token(self)

    @property
    def owner(self) -> InstanceContext:
        """The instance whose operation is called; of a relationship, the instance on the called side."""
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
        """True if the runtime properties of a subject were used, so that they may have changed."""
        if self.instance is not None:
            return self.instance.before is not None
        return any(view.before is not None for view in self.subjects)

    def log(self, level: str, text: str) -> None:
        """Store one log line, which users can follow live."""
        self.channel.log(self, level, text)

    def log_lines(self, level: str, lines: Sequence[str]) -> bool:
        """Store log lines of one level. Return False once the call has reached its limit, from which lines are dropped."""
        return self.channel.log_lines(self, level, lines)

    def save(self, *, wait: bool = False) -> None:
        """Store the present runtime properties; with ``wait``, return when they outlive this process."""
        self.channel.save(self, wait=wait)

    def save_unless_stale(self) -> bool:
        """Save, unless a subject was changed elsewhere since it was read; then store nothing and return False."""
        return self.channel.save_unless_stale(self)

    def tell(self, message: str) -> None:
        """Show a progress message to users, and store the call's ``data``."""
        self.channel.tell(self, message)

    @property
    def is_canceled(self) -> bool:
        """True when a user has canceled the call."""
        return self.channel.is_canceled(self)

    def on_kill(self, end: Callable[[], object]) -> None:
        """Register ``end``, which interrupts the call. Any thread may call it once a user has ordered a kill."""
        self.channel.on_kill(self, end)

    def load(self) -> Callable[..., object]:
        """Return the function to call, for a call of the form ``function``. Raises what its import raises."""
        return self.channel.load(self)


@frozen
class Outcome:
    """The result of one call. ``delay_ms``: ms until the next call, -1 for the policy's interval; ``error``: {type, traceback}."""

    kind: OutcomeKind
    delay_ms: int = -1
    message: str = ""
    error: Mapping[str, str] = field(default_factory=dict)
    result: Value = None
    follow_up: FollowUp | None = None


COMPLETED = Outcome(OutcomeKind.COMPLETED)
"""The most frequent outcome, as one shared object."""


class Caller(Protocol):
    """Calls code of one flavour. An exception of plugin code is not raised; it becomes an outcome (``outcome_of``)."""

    def call(self, call: PluginCall) -> Outcome:
        """Run the member to its end and return its outcome."""
        ...


def outcome_of(error: BaseException, *, hidden_frames: int = 0) -> Outcome:
    """Return the outcome for an exception of plugin code (W2): failed, or retried after its delay or the interval.

    A problem, such as inputs that cannot be evaluated, is not retried. The exceptions of Cloudify's interface derive
    from those of Phaseline. ``hidden_frames`` is the number of Phaseline's own frames that the traceback leaves out.
    ``sys.exit`` fails the call: the process belongs to the engine, and a retry is unlikely to help.
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
    """Return the value as text of at most ``limit`` characters, cut in the middle with a note of the cut length."""
    text = said if type(said) is str else text_of(said)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"


def unloadable(error: BaseException, implementation: str) -> Outcome:
    """Return the outcome for a function that cannot be imported, is missing or is not callable (W2)."""
    wrapped = NonRecoverableError(f"'{implementation}' cannot be loaded: {type(error).__name__}: {message_of(error)}")
    return outcome_of(wrapped.with_traceback(error.__traceback__))


def written_of(view: InstanceContext) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]]:
    """Return what a call changed in a view: ({path: value written}, paths removed). Raises PL-O034."""
    if view.before is None:
        return {}, ()
    return view.changes or changed(view.before, view.runtime_properties)
