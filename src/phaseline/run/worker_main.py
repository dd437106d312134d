"""The program of a worker process: calls one member after the other, asking the engine for what it does not know.

Started by ``workers`` with the number of a connected socket. It ends with the engine: by the parent-death
signal, and when the socket closes.
"""

from __future__ import annotations

import importlib
import itertools
import os
import queue
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.properties import copy_mapping
from phaseline.run.calling import Call, InstanceView, clip, outcome_of, unloadable, written_of
from phaseline.run.channel import MAX_LINE_CHARS
from phaseline.run.flavours import Callers, call_member, flavour_of
from phaseline.run.letters import (
    read_call,
    read_node,
    read_relationship,
    write_changes,
    write_outcome,
)
from phaseline.run.plugin_code import attempt, kept
from phaseline.run.processes import MARK, die_with_parent
from phaseline.run.wire import Closed, Message, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.model.blueprint import Value
    from phaseline.ports import Catalog
    from phaseline.run.calling import Flavour, NodeView, Outcome, RelationshipView
    from phaseline.run.letters import Letter

GONE = 75
"""Exit code of a worker whose engine is gone."""


class Engine:
    """The other end: sends what is said, asks and waits for answers. Any thread may use it; one reads."""

    def __init__(self, wire: Wire) -> None:
        """Nothing asked yet."""
        self.wire = wire
        self.calls: queue.SimpleQueue[Letter] = queue.SimpleQueue()
        self.canceled: set[str] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[Message]] = {}

    def read(self) -> None:
        """Take messages in until the engine is gone; then this process ends at once, whatever it does."""
        try:
            while True:
                message = self.wire.receive()
                if "call" in message:
                    self.calls.put(message["call"])
                elif "answer" in message:
                    self._waiting.pop(message["answer"]).put(message)
                elif "cancel" in message:
                    self.canceled.add(message["cancel"])
        except Closed:
            os._exit(GONE)

    def ask(self, name: str, *arguments: object) -> Any:
        """The engine's answer. Raises ``KeyError`` or ``ProblemsError`` as the engine's side did."""
        number = next(self._numbers)
        box: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._waiting[number] = box
        self.wire.send({"ask": number, "name": name, "arguments": list(arguments)})
        answer = box.get()
        if "problem" in answer:
            raise ProblemsError([Problem(*answer["problem"])])
        if "error" in answer:
            raise KeyError(answer["error"])
        return answer["value"]


class AskingWorld:
    """The ``World`` of one call: begins with what came with the call, asks for the rest."""

    def __init__(self, engine: Engine, letter: Letter) -> None:
        """``letter`` is the call's."""
        self._engine = engine
        views = letter["subjects"].values()
        self._nodes: dict[int, NodeView] = {view["number"]: read_node(view["node"]) for view in views}
        self._fresh: dict[int, dict[str, Value]] = {view["number"]: view["document"] for view in views}

    def instance(self, id: str) -> InstanceView:
        """The instance of this id. ``KeyError`` if there is none."""
        letter = self._engine.ask("instance", id)
        self._nodes[letter["number"]] = read_node(letter["node"])
        self._fresh[letter["number"]] = letter["document"]
        return InstanceView(letter["id"], letter["index"], letter["number"], self)

    def node(self, instance: InstanceView) -> NodeView:
        """Its node."""
        found = self._nodes.get(instance.number)
        if found is None:
            found = self._nodes[instance.number] = read_node(self._engine.ask("node", instance.number))
        return found

    def document(self, instance: InstanceView) -> Mapping[str, Value]:
        """What came with the instance, the first time; then what the engine knows."""
        found = self._fresh.pop(instance.number, None)
        if found is None:
            found = cast("dict[str, Value]", self._engine.ask("document", instance.number))
        return found

    def relationships(self, instance: InstanceView) -> tuple[RelationshipView, ...]:
        """Relationship instances whose source it is."""
        return tuple(read_relationship(letter) for letter in self._engine.ask("relationships", instance.number))

    def host(self, instance: InstanceView) -> str | None:
        """Id of its host."""
        found: str | None = self._engine.ask("host", instance.number)
        return found

    def instances_of(self, node: str) -> Sequence[str]:
        """Ids of the instances of a node."""
        found: list[str] = self._engine.ask("instances_of", node)
        return found

    def state(self, instance: InstanceView) -> str:
        """Its state."""
        return str(self._engine.ask("state", instance.number))

    def system_properties(self, instance: InstanceView) -> Mapping[str, Value]:
        """What checks have found of it."""
        return cast("dict[str, Value]", self._engine.ask("system_properties", instance.number))

    def evaluate(self, value: Value, call: Call) -> Value:  # noqa: ARG002 - the engine knows which call asks
        """The value with its functions evaluated."""
        return cast("Value", self._engine.ask("evaluate", value))

    def secret(self, name: str) -> str:
        """The text of a secret."""
        return str(self._engine.ask("secret", name))


class WorkerChannel:
    """The ``Channel`` of the one call that runs."""

    def __init__(self, engine: Engine, catalog: Catalog, letter: Letter) -> None:
        """``letter`` is the call's."""
        self._engine = engine
        self._catalog = catalog
        self._letter = letter

    def log(self, call: Call, level: str, text: str) -> None:  # noqa: ARG002 - the engine knows which call runs
        """Send one line."""
        self._engine.wire.send({"log": [level, clip(text, MAX_LINE_CHARS)]})

    def save(self, call: Call, *, wait: bool = False) -> None:
        """Have the runtime properties stored as they are now."""
        changes = write_changes([(view.number, *written_of(view)) for view in call.subjects])
        self._engine.ask("save", changes, wait)
        for view in call.subjects:
            view.settle()

    def tell(self, call: Call, message: str) -> None:
        """Have it shown how far it is."""
        self._engine.ask("tell", message, kept(call.data, "data"))

    def is_canceled(self, call: Call) -> bool:  # noqa: ARG002 - one call at a time
        """True when a user canceled it."""
        return self._letter["mark"] in self._engine.canceled

    def on_kill(self, call: Call, end: Callable[[], object]) -> None:
        """Nobody needs it: who is killed here is this process."""

    def load(self, call: Call) -> Callable[..., object]:
        """The function of the call's site."""
        return self._catalog.load(call.site.implementation, call.site.deployment.code)

    def inputs(self, call: Call) -> dict[str, Value]:  # noqa: ARG002 - one call at a time
        """The inputs that came with the call."""
        return copy_mapping(self._letter["inputs"])

    def token(self, call: Call) -> str:  # noqa: ARG002 - one call at a time
        """The token that came with the call."""
        return str(self._letter["token"])


def run_call(engine: Engine, catalog: Catalog, callers: Callers, letter: Letter) -> Message:
    """Call one member to its end; the message that says what came of it."""
    os.environ[MARK] = letter["mark"]
    call = read_call(letter, WorkerChannel(engine, catalog, letter), AskingWorld(engine, letter))
    flavour, error = attempt(_prepared, call, callers)
    engine.wire.send({"begun": letter["member"]})
    if flavour is None:
        assert error is not None
        outcome = unloadable(error, call.site.implementation)
    else:
        outcome = call_member(call, flavour, callers)
    outcome, changes, data = _left(call, outcome)
    _flush()
    return {
        "outcome": write_outcome(outcome),
        "flavour": flavour,
        "changes": changes,
        "data": data,
    }


def _prepared(call: Call, callers: Callers) -> Flavour:
    """The flavour of a call with its code and its caller imported: that is not the operation's time."""
    flavour = flavour_of(call)
    _ = callers[flavour]
    return flavour


def _left(call: Call, outcome: Outcome) -> tuple[Outcome, Any, Value]:
    """What came of it, what it changed, and its data; what cannot be stored of either fails the call."""
    try:
        data = kept(call.data, "data")
        return outcome, write_changes([(view.number, *written_of(view)) for view in call.subjects]), data
    except ProblemsError as error:
        return outcome_of(error), [], None


def _flush() -> None:
    """What the call printed belongs to it: out with it before the answer."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def main(arguments: Sequence[str]) -> None:
    """Serve calls until the engine goes away. Arguments: the socket's number, the engine's process id."""
    die_with_parent(int(arguments[1]))
    wire = Wire(socket.socket(fileno=int(arguments[0])))
    setup = wire.receive()
    sys.path[:] = setup["path"]
    # What found this program is not meant for what plugins start: that may be another Python.
    os.environ.pop("PYTHONPATH")
    if setup["pythonpath"] is not None:
        os.environ["PYTHONPATH"] = setup["pythonpath"]
    catalog: Catalog = _named(setup["catalog"])()
    callers = Callers()
    engine = Engine(wire)
    threading.Thread(target=engine.read, name="phaseline-wire", daemon=True).start()
    wire.send({"ready": os.getpid()})
    while True:
        letter = engine.calls.get()
        message = run_call(engine, catalog, callers, letter)
        try:
            engine.wire.send(message)
        except ProblemsError as error:
            engine.wire.send({**message, "outcome": write_outcome(outcome_of(error)), "changes": [], "data": None})
        engine.canceled.clear()
        os.environ.pop(MARK, None)


if __name__ == "__main__":
    main(sys.argv[1:])
