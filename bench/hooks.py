"""What hooks cost that look at a deployment of 10,000 instances: nothing where they look at nothing (source 2, H35)."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from bench.figures import Spread
from bench.report import Row
from phaseline.app.settings import Settings
from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup
from phaseline.calls.protocol.call import ExecutionContext, PluginCall, Site
from phaseline.embedded.open_app import open_context
from phaseline.hooks.caller import HookCaller
from phaseline.hooks.stack_view import StackView
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.execution import Request
from phaseline.model.execution.pre_post import POST, PRE, DeploymentCallKind, PinnedHookClass
from phaseline.model.graph.status import OutcomeKind
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.hook_calls import deployment
from phaseline.use_cases.prepare.pre_post import pre_post_for

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import Channel

INSTANCES, CLASSES = 10_000, 3
PROPERTIES = {f"field_{number}": {"size": number} if number % 4 == 0 else number for number in range(8)}
MOST_NOTHING_MS, MOST_READING_MS, MOST_NONE_US = 1.0, 100.0, 50.0
ACTIONS = 2_000


class Nothing:
    """A class that looks at nothing."""

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Agrees."""

    def do_post_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None, *failure: Any) -> None:
        """Agrees."""


def made() -> LoadedDeployment:
    """Ten thousand instances with eight properties and a document each."""
    found = topology(blueprint(node("web", instances=INSTANCES, properties=PROPERTIES)))
    documents: Any = {one: {"resource_id": f"vm-{number}"} for number, one in enumerate(found.ids)}
    return deployment(found, documents=documents, state=InstanceState.STARTED)


def nothing_ms(about: LoadedDeployment) -> float:
    """Pre and post of three classes."""
    hooks = [Nothing() for _ in range(CLASSES)]
    start = perf_counter()
    for hook in hooks:
        hook.do_pre_op(None, StackView(about.as_is, "CREATE", "IN_PROGRESS"), None, "CREATE")
    for hook in hooks:
        hook.do_post_op(None, StackView(about.as_is, "CREATE", "COMPLETE"), None, "CREATE")
    return (perf_counter() - start) * 1000


def reading_ms(about: LoadedDeployment) -> float:
    """One class that reads three fields of each instance."""
    start = perf_counter()
    stack = StackView(about.as_is, "CREATE", "IN_PROGRESS")
    for one in stack.resources.values():
        assert one.properties["field_1"] == 1
        assert one.properties["field_4"]["size"] == 4
        assert one.resource_id
    return (perf_counter() - start) * 1000


def none_us() -> float:
    """What an action of a deployment pays where nobody has announced a class, beyond the first one of a process."""
    with TemporaryDirectory() as folder, open_context(Settings(f"sqlite:///{folder}/store.db"), "bench") as ctx:
        request = Request("install")
        pre_post_for(ctx, request, 1)
        start = perf_counter()
        for _ in range(ACTIONS):
            assert pre_post_for(ctx, request, 1) is None
        return (perf_counter() - start) / ACTIONS * 1e6


class _Channel:
    """What calls of hooks need of an engine."""

    def __init__(self) -> None:
        self._hooks = [Nothing() for _ in range(CLASSES)]
        self.lines = 0

    def load(self, call: PluginCall) -> Callable[[], object]:
        """The object of the call's class."""
        return lambda: self._hooks[call.member]

    def on_kill(self, call: PluginCall, end: Callable[[], object]) -> None:
        """Nobody wants a call cut short."""

    def log(self, *_line: object) -> None:
        """Count a line."""
        self.lines += 1


def calls_ms(about: LoadedDeployment, caller: HookCaller) -> float:
    """Pre and post of three classes, called as the engine calls them: with contexts, views, threads and a line for each."""
    channel = _Channel()
    execution = ExecutionContext(
        "install-1", "install", ground=ExecutionHookLookup(1, MemoryStore(VirtualClock()), lambda _: None, dict)
    )
    hooks = [
        PinnedHookClass(f"H{number}", "bench:Nothing", "CREATE", key=f"bench//{number}") for number in range(CLASSES)
    ]
    start = perf_counter()
    for phase, why in ((PRE, DeploymentCallKind.BEFORE), (POST, DeploymentCallKind.COMPLETED)):
        for number, hook in enumerate(hooks):
            site = Site(phase + hook.name, "function", hook.implementation, execution, about.view, hook=hook)
            call = PluginCall(site, number, 0, cast("Channel", channel), about)
            call.why = why
            assert caller.call(call).kind is OutcomeKind.COMPLETED
    assert channel.lines == 2 * CLASSES
    return (perf_counter() - start) * 1000


def rows(count: int) -> list[Row]:
    """All of them, ``count`` times."""
    print("hooks over 10,000 instances", flush=True)
    none = Spread(tuple(none_us() for _ in range(count)))
    nothing = Spread(tuple(nothing_ms(made()) for _ in range(count)))
    reading = Spread(tuple(reading_ms(made()) for _ in range(count)))
    caller = HookCaller()
    calls_ms(made(), caller)
    calls = Spread(tuple(calls_ms(made(), caller) for _ in range(count)))
    return [
        Row(
            "hooks: an action where there are no classes",
            none.text("µs", 1), f"≤ {MOST_NONE_US:g} µs", none.median <= MOST_NONE_US,
        ),
        Row(
            f"hooks: pre and post of {CLASSES} classes that look at nothing, called as the engine does, {INSTANCES:,} instances",
            calls.text("ms", 3), f"≤ {MOST_NOTHING_MS:g} ms", calls.median <= MOST_NOTHING_MS,
        ),
        Row(
            f"hooks: pre and post of {CLASSES} classes that look at nothing, {INSTANCES:,} instances",
            nothing.text("ms", 3), f"≤ {MOST_NOTHING_MS:g} ms", nothing.median <= MOST_NOTHING_MS,
        ),
        Row(
            f"hooks: a class that reads three fields of each, {INSTANCES:,} instances",
            reading.text("ms", 1), f"≤ {MOST_READING_MS:g} ms", reading.median <= MOST_READING_MS,
        ),
    ]  # fmt: skip
