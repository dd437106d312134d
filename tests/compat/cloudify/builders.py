"""A deployment small enough to read: what calls of these tests are about."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from phaseline.calls.protocol.call import (
    DeploymentContext,
    ExecutionContext,
    InstanceContext,
    NodeContext,
    PluginCall,
    RelationshipContext,
    Site,
)
from phaseline.compat.cloudify import enable
from phaseline.model.blueprint.blueprint import Plugin
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.runtime_properties import copy_mapping, diff

enable()

HOST_TYPES = ("cloudify.nodes.Compute", "cloudify.nodes.Root")


class SmallWorld:
    """``vm_1`` hosts ``web_1``, which is connected to ``db_1``; ``lone_1`` has no host."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {"vm_1": {}, "web_1": {}, "db_1": {"url": "db://1"}, "lone_1": {}}
        self.properties: dict[str, dict[str, Any]] = {
            "vm": {"ip": "10.0.0.5"},
            "web": {"port": 8080, "deep": {"list": [{"name": "first"}]}, "off": False},
            "db": {"size": 3},
            "lone": {},
        }
        self.hosts = {"vm_1": "vm_1", "web_1": "vm_1", "db_1": "vm_1"}

    def instance(self, id: str) -> InstanceContext:
        if id not in self.documents:
            raise KeyError(id)
        return InstanceContext(id, 1, sorted(self.documents).index(id), self)

    def node(self, instance: InstanceContext) -> NodeContext:
        name = instance.id.partition("_")[0]
        hierarchy = HOST_TYPES if name == "vm" else ("my.Server", "cloudify.nodes.Root")
        return NodeContext(name, hierarchy[0], hierarchy, self.properties[name])

    def document(self, instance: InstanceContext) -> Mapping[str, Any]:
        return self.documents[instance.id]

    def relationships(self, instance: InstanceContext) -> tuple[RelationshipContext, ...]:
        if instance.id != "web_1":
            return ()
        connected = "cloudify.relationships.connected_to"
        return (RelationshipContext(connected, (connected,), {"connection_type": "all_to_one"}, "db_1"),)

    def host(self, instance: InstanceContext) -> str | None:
        return self.hosts.get(instance.id)

    def instances_of(self, node: str) -> Sequence[str]:
        return [id for id in sorted(self.documents) if id.startswith(f"{node}_")]

    def state(self, instance: InstanceContext) -> str:
        return "started"

    def evaluate(self, value: Any, call: PluginCall) -> Any:
        if isinstance(value, dict) and "get_attribute" in value:
            return f"value of {value['get_attribute'][1]}"
        return value

    def secret(self, name: str) -> str:
        return {"token": "t-12345"}[name]


class SmallChannel:
    """Keeps what a call says; ``saved`` holds what was stored before its end."""

    def __init__(self, function: Callable[..., Any] | Exception | None, inputs: dict[str, Any]) -> None:
        self.function = function
        self.given = inputs
        self.lines: list[tuple[str, str]] = []
        self.saved: list[dict[str, dict[str, Any]]] = []
        self.canceled = False
        self.intruders: list[Callable[[], None]] = []
        self.lock = threading.Lock()

    def log(self, call: PluginCall, level: str, text: str) -> None:
        with self.lock:
            self.lines.append((level, text))

    def log_lines(self, call: PluginCall, level: str, lines: Sequence[str]) -> bool:
        for line in lines:
            self.log(call, level, line)
        return True

    def save(self, call: PluginCall, *, wait: bool = False) -> None:
        self.saved.append({view.id: dict(view.runtime_properties) for view in call.subjects})
        for view in call.subjects:
            view.settle()

    def save_unless_stale(self, call: PluginCall) -> bool:
        """Those of ``intruders`` change the documents first, one at each attempt."""
        if self.intruders:
            self.intruders.pop(0)()
            return False
        self.save(call)
        return True

    def is_canceled(self, call: PluginCall) -> bool:
        return self.canceled

    def on_kill(self, call: PluginCall, end: object) -> None:
        """Nobody kills it."""

    def load(self, call: PluginCall) -> Any:
        if isinstance(self.function, Exception):
            raise self.function
        return self.function

    def inputs(self, call: PluginCall) -> dict[str, Any]:
        return copy_mapping(self.given)

    def token(self, call: PluginCall) -> str:
        return "store-1-2-0"

    @property
    def texts(self) -> list[str]:
        """What was logged, without the engine's own words about it."""
        return [text for level, text in self.lines if level != "debug"]


def node_call(
    function: Callable[..., Any] | Exception | None = None,
    *,
    form: str = "function",
    implementation: str = "plugin.function",
    inputs: dict[str, Any] | None = None,
    folder: Path | None = None,
    world: SmallWorld | None = None,
    instance: str = "web_1",
    attempt: int = 0,
    pair: tuple[str, str] | None = None,
) -> PluginCall:
    """A call of the operation ``create`` of an instance, or with ``pair`` of ``establish`` between source and target."""
    world = world or SmallWorld()
    site = Site(
        operation="cloudify.interfaces.lifecycle.create" if pair is None else "establish",
        form=form,
        implementation=implementation,
        execution=ExecutionContext("install-7", "install", {"force": True}, creator="ann"),
        deployment=DeploymentContext("shop", "blueprint", CodeLocation(str(folder or "."))),
        plugin=Plugin("web", "central_deployment_agent", package_name="web-plugin", package_version="1.2"),
        side="node" if pair is None else "source",
        max_retries=60,
    )
    return PluginCall(
        site,
        member=0,
        attempt=attempt,
        channel=SmallChannel(function, inputs or {}),
        world=world,
        instance=world.instance(instance) if pair is None else None,
        source=None if pair is None else world.instance(pair[0]),
        target=None if pair is None else world.instance(pair[1]),
    )


def said(call: PluginCall) -> SmallChannel:
    """Where what the call said was kept."""
    channel = call.channel
    assert isinstance(channel, SmallChannel)
    return channel


def stored(view: InstanceContext | None) -> dict[str, Any]:
    """{path: value} that the engine would write, removed ones as None."""
    assert view is not None
    if view.before is None:
        return {}
    written, removed = diff(view.before, view.runtime_properties)
    return {
        **{".".join(path): value for path, value in written.items()},
        **{".".join(path): None for path in removed},
    }
