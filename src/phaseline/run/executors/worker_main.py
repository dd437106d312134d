"""The program of a worker process: it makes one call after the other, and asks the engine for missing data.

``embedded.worker_main`` starts it with the descriptors of a connected socket and of the pipe of permits. It ends with
the engine: by the parent-death signal, and when the socket closes.
"""

from __future__ import annotations

import fcntl
import importlib
import itertools
import os
import queue
import socket
import sys
import termios
import threading
from typing import TYPE_CHECKING, Any, cast

from phaseline.calls.batches.caller_registry import call_member, flavour_of
from phaseline.calls.protocol.call import (
    COMPLETED,
    MAX_LINE_CHARS,
    MAX_LINES,
    InstanceContext,
    PluginCall,
    outcome_of,
    truncate,
    unloadable,
    written_of,
)
from phaseline.calls.protocol.call_codec import (
    read_call,
    read_node,
    read_relationship,
    read_site,
    write_changes,
    write_outcome,
)
from phaseline.calls.protocol.plugin_boundary import require_storable
from phaseline.calls.threads import guarded_calls
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.calls.threads.process_groups import MARK, die_with_parent
from phaseline.model.deployment.runtime_properties import copy_mapping
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.run.executors.framing import PRINTED, Closed, Message, Wire
from phaseline.run.executors.permits import PermitReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.calls.batches.caller_registry import CallerRegistry
    from phaseline.calls.protocol.call import Flavour, NodeContext, Outcome, RelationshipContext, Site
    from phaseline.calls.protocol.call_codec import Changes, Letter
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.ports.catalog import Catalog

GONE = 75
"""Exit code of a worker whose engine has ended."""


class EngineConnection:
    """The connection to the engine: sends messages, asks questions and waits for the answers.

    Any thread may use it; one thread runs ``read``.
    """

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.calls: queue.SimpleQueue[Letter] = queue.SimpleQueue()
        self.canceled: set[str] = set()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[Message]] = {}

    def read(self) -> None:
        """Receive messages until the engine has ended; then end this process at once."""
        try:
            while True:
                message = self.wire.receive()
                if "calls" in message:
                    for letter in message["calls"]:
                        self.calls.put(letter)
                elif "answer" in message:
                    self._waiting.pop(message["answer"]).put(message)
                elif "cancel" in message:
                    self.canceled.add(message["cancel"])
        except Closed:
            os._exit(GONE)

    def call_of(self, number: int, sites: Sites) -> Letter:
        """Wait for the call with this number and return it. Skip earlier calls, which the engine has taken back.

        Call sites that came with skipped calls are remembered, because later calls may use them.
        """
        while True:
            letter = self.calls.get()
            if letter["number"] == number:
                return letter
            sites.of(letter)

    def ask(self, name: str, *arguments: object) -> Any:
        """Ask the engine and return its answer. Raises ``KeyError`` or ``ProblemsError`` if answering raised it."""
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
    """The ``DeploymentLookup`` of one call: uses the data sent with the call, and asks the engine for other data."""

    def __init__(self, engine: EngineConnection, letter: Letter) -> None:
        """Store the data that came with the call in its ``letter``."""
        self._engine = engine
        views = letter["subjects"].values()
        self._nodes: dict[int, NodeContext] = {view["number"]: read_node(view["node"]) for view in views}
        self._fresh: dict[int, dict[str, Value]] = {view["number"]: view["document"] for view in views}

    def instance(self, id: str) -> InstanceContext:
        """Return the instance with this id. Raises ``KeyError`` if there is none."""
        letter = self._engine.ask("instance", id)
        self._nodes[letter["number"]] = read_node(letter["node"])
        self._fresh[letter["number"]] = letter["document"]
        return InstanceContext(letter["id"], letter["index"], letter["number"], self)

    def node(self, instance: InstanceContext) -> NodeContext:
        """Return the node of the instance."""
        found = self._nodes.get(instance.number)
        if found is None:
            found = self._nodes[instance.number] = read_node(self._engine.ask("node", instance.number))
        return found

    def document(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Return the document of an instance: at first the one that came with it, later the engine's current one."""
        found = self._fresh.pop(instance.number, None)
        if found is None:
            found = cast("dict[str, Value]", self._engine.ask("document", instance.number))
        return found

    def relationships(self, instance: InstanceContext) -> tuple[RelationshipContext, ...]:
        """Return the relationship instances with this source."""
        return tuple(read_relationship(letter) for letter in self._engine.ask("relationships", instance.number))

    def host(self, instance: InstanceContext) -> str | None:
        """Return the id of the host of an instance, or None."""
        found: str | None = self._engine.ask("host", instance.number)
        return found

    def instances_of(self, node: str) -> Sequence[str]:
        """Return the ids of a node's instances."""
        found: list[str] = self._engine.ask("instances_of", node)
        return found

    def state(self, instance: InstanceContext) -> str:
        """Return the state of the instance."""
        return str(self._engine.ask("state", instance.number))

    def system_properties(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Return the check results of an instance."""
        return cast("dict[str, Value]", self._engine.ask("system_properties", instance.number))

    def evaluate(self, value: Value, call: PluginCall) -> Value:  # noqa: ARG002 - the engine knows which call asks
        """Return the value with its intrinsic functions evaluated."""
        return cast("Value", self._engine.ask("evaluate", value))

    def secret(self, name: str) -> str:
        """Return the text of a secret."""
        return str(self._engine.ask("secret", name))


class WorkerChannel:
    """The ``Channel`` by which the running call logs, saves and asks through the engine."""

    def __init__(self, engine: EngineConnection, catalog: Catalog, letter: Letter) -> None:
        """``letter`` is the message with which the call came."""
        self._engine = engine
        self._catalog = catalog
        self._letter = letter
        self._sent = 0
        """Number of lines sent by ``log_lines``."""

    def log(self, call: PluginCall, level: str, text: str) -> None:  # noqa: ARG002 - the engine knows which call runs
        """Send one log line. A fork of this process writes it to standard error instead, which the engine reads too."""
        if guarded_calls.copies():
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - see above
            return
        self._engine.wire.send({"log": [level, truncate(text, MAX_LINE_CHARS)]})

    def log_lines(self, call: PluginCall, level: str, lines: Sequence[str]) -> bool:
        """Send many log lines at once. Return False when the engine keeps no further lines of this call.

        One line above the limit is sent, so that the engine logs that lines are missing.
        """
        if guarded_calls.copies():
            for line in lines:
                self.log(call, level, line)
            return True
        room = MAX_LINES + 1 - self._sent
        if room > 0:
            self._engine.wire.send({"lines": [level, [truncate(line, MAX_LINE_CHARS) for line in lines[:room]]]})
            self._sent += len(lines)
        return self._sent <= MAX_LINES

    def save(self, call: PluginCall, *, wait: bool = False) -> None:
        """Store the present runtime properties of the call's subjects; ``wait``: until they are committed."""
        self._engine.ask("save", _changes(call), wait)
        for view in call.subjects:
            view.settle()

    def save_unless_stale(self, call: PluginCall) -> bool:
        """Store the changes, unless another call has changed the same instances meanwhile; then return False."""
        read = [(view.number, view.before) for view in call.subjects if view.before is not None]
        is_stored: bool = self._engine.ask("save_unless_stale", _changes(call), read)
        if is_stored:
            for view in call.subjects:
                view.settle()
        return is_stored

    def tell(self, call: PluginCall, message: str) -> None:
        """Show a progress message to users, and store ``call.data``, which the next call of the entry gets."""
        self._engine.ask("tell", message, require_storable(call.data, "data"))

    def is_canceled(self, call: PluginCall) -> bool:  # noqa: ARG002 - one call at a time
        """Return True when a user has canceled the call."""
        return self._letter["mark"] in self._engine.canceled

    def on_kill(self, call: PluginCall, end: Callable[[], object]) -> None:
        """Do nothing: a kill ends this whole process."""

    def load(self, call: PluginCall) -> Callable[..., object]:
        """Return the function of the call's site."""
        return self._catalog.load(call.site.implementation, call.site.deployment.code)

    def inputs(self, call: PluginCall) -> dict[str, Value]:  # noqa: ARG002 - one call at a time
        """Return the inputs that came with the call."""
        return copy_mapping(self._letter["inputs"])

    def token(self, call: PluginCall) -> str:  # noqa: ARG002 - one call at a time
        """Return the token that came with the call."""
        return str(self._letter["token"])


class Sites:
    """The ``Site`` objects that the engine has sent, by number. Many calls share a site, so it is sent only once."""

    def __init__(self) -> None:
        self._known: dict[int, Site] = {}

    def of(self, letter: Letter) -> tuple[Site, bool]:
        """Return (site of a call, True if the site came with this call). A site with number 0 replaces all others."""
        number: int = letter["at"]
        told = letter.get("told")
        if told is None:
            return self._known[number], False
        if number == 0:
            self._known.clear()
        site = self._known[number] = read_site(told)
        return site, True


def _changes(call: PluginCall) -> Changes:
    found = [(view.number, *written_of(view)) for view in call.subjects if view.before is not None]
    return write_changes([change for change in found if change[1] or change[2]])


def run_call(
    engine: EngineConnection, catalog: Catalog, callers: CallerRegistry, letter: Letter, sites: Sites
) -> Message:
    """Call one member, and return the message with its result."""
    os.environ[MARK] = letter["mark"]
    site, is_new = sites.of(letter)
    call = read_call(letter, site, WorkerChannel(engine, catalog, letter), AskingWorld(engine, letter))
    flavour, error = guarded_call(_prepared, call, callers)
    if is_new:  # of the others the engine knows that their code is loaded
        engine.wire.send({"begun": letter["member"]})
    if flavour is None:
        assert error is not None
        outcome = unloadable(error, call.site.implementation)
    else:
        outcome = call_member(call, flavour, callers)
    outcome, changes, data = _left(call, outcome)
    if outcome is COMPLETED and not changes and data is None:
        return {"done": flavour}
    return {
        "outcome": write_outcome(outcome),
        "flavour": flavour,
        "changes": changes,
        "data": data,
    }


def _prepared(call: PluginCall, callers: CallerRegistry) -> Flavour:
    """Import the code of a call and its caller, and return the call's flavour.

    The time of the import does not count as time of the operation.
    """
    flavour = flavour_of(call)
    _ = callers[flavour]
    return flavour


def _left(call: PluginCall, outcome: Outcome) -> tuple[Outcome, Any, Value]:
    """Return the outcome of a call, its changes and its data. A value that cannot be stored fails the call."""
    try:
        data = require_storable(call.data, "data")
        return outcome, _changes(call), data
    except ProblemsError as error:
        return outcome_of(error), [], None


class Pipes:
    """The pipes for output of this process and its child processes, which the engine reads."""

    def __init__(self) -> None:
        """Duplicate the descriptors of standard output and error, because calls may replace them."""
        self._numbers = tuple(os.dup(stream.fileno()) for stream in (sys.stdout, sys.stderr))

    def empty(self, engine: EngineConnection) -> None:
        """Wait until the engine has read the printed lines of a call, before the end of the call is reported."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        if any(map(_unread, self._numbers)):
            engine.ask(PRINTED)


def _unread(number: int) -> int:
    """Return the number of unread bytes in a pipe."""
    return int.from_bytes(fcntl.ioctl(number, termios.FIONREAD, bytes(4)), sys.byteorder)


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def main(arguments: Sequence[str], callers: CallerRegistry) -> None:
    """Make calls until the engine ends. ``arguments``: descriptors of socket and pipe, the engine's process id."""
    socket_number, pipe_number, parent = map(int, arguments)
    die_with_parent(parent)
    for descriptor in (socket_number, pipe_number):
        os.set_inheritable(descriptor, False)  # or what calls start would seem to be this process when it has died
    wire, permits = Wire(socket.socket(fileno=socket_number)), PermitReader(pipe_number)
    for close in (wire.close, permits.close):
        os.register_at_fork(after_in_child=close)  # what a copy sent would be taken for ours, and its answers come here
    setup = wire.receive()
    sys.path[:] = setup["path"]
    # What found this program is not meant for what plugins start: that may be another Python.
    os.environ.pop("PYTHONPATH")
    if setup["pythonpath"] is not None:
        os.environ["PYTHONPATH"] = setup["pythonpath"]
    catalog: Catalog = _named(setup["catalog"])()
    engine, sites, pipes = EngineConnection(wire), Sites(), Pipes()
    threading.Thread(target=engine.read, name="phaseline-wire", daemon=True).start()
    wire.send({"ready": os.getpid()})
    while (number := permits.take()) is not None:
        message = run_call(engine, catalog, callers, engine.call_of(number, sites), sites)
        pipes.empty(engine)
        try:
            wire.send(message)
        except ProblemsError as error:
            wire.send({**message, "outcome": write_outcome(outcome_of(error)), "changes": [], "data": None})
        engine.canceled.clear()
        os.environ.pop(MARK, None)
    os._exit(GONE)
