"""The caller of hook classes where its class has gone since the execution was made, and what it leaves behind."""

import threading
from collections.abc import Callable
from typing import Any

from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup
from phaseline.calls.protocol.call import ExecutionContext, PluginCall, Site
from phaseline.hooks.caller import HookCaller
from phaseline.model.execution.pre_post import POST, PRE, DeploymentCallKind, PinnedHookClass
from phaseline.model.graph.status import OutcomeKind
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.hook_calls import deployment

HOOK = PinnedHookClass("quota", "house:Quota", "CREATE", key="settings//quota", per_execution=True)


class Channel:
    """What a call of a hook needs of an engine: ``make`` gives the object, or raises what importing it raises."""

    def __init__(self, make: Any) -> None:
        self.make, self.lines, self.is_killed = make, [], False

    def load(self, _call: PluginCall) -> Any:
        return self.make

    def on_kill(self, _call: PluginCall, end: Callable[[], object]) -> None:
        if self.is_killed:
            end()

    def log(self, _call: PluginCall, level: str, text: str) -> None:
        self.lines.append((level, text))


def call_of(channel: Channel, phase: str, why: DeploymentCallKind, execution: str = "install-1") -> PluginCall:
    about = deployment(topology(blueprint(node("web"))))
    ground = ExecutionHookLookup(1, MemoryStore(VirtualClock()), lambda _: None, lambda: None)
    view = ExecutionContext(execution, "install", ground=ground)
    site = Site(phase + HOOK.name, "function", HOOK.implementation, view, about.view, hook=HOOK)
    made: Any = PluginCall(site, 0, 0, channel, about)
    made.why = why
    return made


def test_a_class_that_is_gone_refuses_and_says_what_python_says() -> None:
    def gone() -> object:
        raise ModuleNotFoundError("No module named 'house'")

    channel = Channel(gone)
    outcome = HookCaller().call(call_of(channel, PRE, DeploymentCallKind.BEFORE))
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.message == "house:Quota cannot be made any more: ModuleNotFoundError: No module named 'house'"


def test_h43_an_execution_keeps_its_object_to_its_last_call_and_no_longer() -> None:
    made: list[object] = []

    class Quota:
        def do_pre_op(self, *_given: object) -> None:
            made.append(self)

        do_post_op = do_pre_op

    caller, channel = HookCaller(), Channel(Quota)
    for phase, why in (
        (PRE, DeploymentCallKind.BEFORE),
        (POST, DeploymentCallKind.COMPLETED),
        (PRE, DeploymentCallKind.BEFORE),
    ):
        assert caller.call(call_of(channel, phase, why)).kind is OutcomeKind.COMPLETED
    assert made[0] is made[1]
    assert made[1] is not made[2], "a retry is a new action"
    caller.call(call_of(channel, PRE, DeploymentCallKind.BEFORE, "install-2"))
    assert made[3] is not made[2]
    assert [level for level, _ in channel.lines] == ["debug"] * 4


def test_h52_a_call_that_is_killed_counts_as_failed_and_what_it_says_later_is_not_heard() -> None:
    gate = threading.Event()

    class Quota:
        def do_pre_op(self, *_given: object) -> None:
            gate.wait(60)

    channel = Channel(Quota)
    channel.is_killed = True
    outcome = HookCaller().call(call_of(channel, PRE, DeploymentCallKind.BEFORE))
    assert (outcome.kind, outcome.message) == (OutcomeKind.FAILED, "was given up on request")
    assert channel.lines[0] == ("warning", "quota still runs in a thread whose result is ignored; such threads: 1")
    gate.set()
