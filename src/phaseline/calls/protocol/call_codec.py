"""Calls, views and outcomes as JSON documents, to send them to a worker process and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from phaseline.calls.protocol.call import (
    DeploymentContext,
    ExecutionContext,
    InstanceContext,
    NodeContext,
    Outcome,
    PluginCall,
    RelationshipContext,
    Site,
)
from phaseline.calls.protocol.phase_view import PhaseContext
from phaseline.lang.fast_dataclasses import altered, as_dict
from phaseline.model.blueprint.blueprint import Plugin
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.calls.protocol.call import Channel, DeploymentLookup
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import PropertyPath

Letter = dict[str, Any]
Changes = list[tuple[int, list[tuple[list[str], Any]], list[list[str]]]]


def write_node(view: NodeContext) -> Letter:
    """Return the view of a node as JSON."""
    return {
        "name": view.name,
        "type": view.type,
        "type_hierarchy": list(view.type_hierarchy),
        "properties": dict(view.properties),
        "instance_count": view.instance_count,
    }


def read_node(letter: Letter) -> NodeContext:
    """Read the node that ``write_node`` wrote."""
    return NodeContext(**{**letter, "type_hierarchy": tuple(letter["type_hierarchy"])})


def write_relationship(view: RelationshipContext) -> Letter:
    """Return the view of a relationship as JSON."""
    return {
        "type": view.type,
        "type_hierarchy": list(view.type_hierarchy),
        "properties": dict(view.properties),
        "target": view.target,
    }


def read_relationship(letter: Letter) -> RelationshipContext:
    """Read the relationship that ``write_relationship`` wrote."""
    return RelationshipContext(**{**letter, "type_hierarchy": tuple(letter["type_hierarchy"])})


def write_phase(view: PhaseContext) -> Letter:
    """Return the view of a phase as JSON."""
    return {
        "name": view.name,
        "state": view.state,
        "sleep_delay_ms": view.sleep_delay_ms,
        "attributes": dict(view.attributes),
    }


def write_instance(view: InstanceContext) -> Letter:
    """Return an instance as JSON, with its node and its present runtime properties."""
    return {
        "id": view.id,
        "index": view.index,
        "number": view.number,
        "node": write_node(view.node),
        "document": dict(view.world.document(view)),
    }


def write_execution(view: ExecutionContext) -> Letter:
    """Return the view of an execution as JSON, without the decisions of hooks."""
    left_out = {"around", "ground", "parameters", "decisions"}
    rest = {name: value for name, value in as_dict(view).items() if name not in left_out}
    return {**rest, "parameters": dict(view.parameters)}


def write_call(call: PluginCall, *, inputs: Mapping[str, Value], mark: str) -> Letter:
    """Return a call as JSON for a worker that already has the call's ``Site``. The worker asks for any further data.

    Of the decisions of hooks, only those for the call's instances are included.
    """
    decisions = call.site.execution.decisions
    letter: Letter = {
        "member": call.member,
        "attempt": call.attempt,
        "token": call.token,
        "mark": mark,
        "inputs": dict(inputs),
        "data": call.data,
        "subjects": {
            name: write_instance(view)
            for name, view in (("instance", call.instance), ("source", call.source), ("target", call.target))
            if view is not None
        },
    }
    if decisions:
        letter["decisions"] = {one.id: dict(decisions[one.id]) for one in call.subjects if one.id in decisions}
    return letter


def write_site(site: Site) -> Letter:
    """Return the data shared by all calls of one operation of one node as JSON."""
    plugin = None if site.plugin is None else asdict(site.plugin)
    deployment = site.deployment
    return {
        "site": {
            "operation": site.operation,
            "form": site.form,
            "implementation": site.implementation,
            "side": site.side,
            "max_retries": site.max_retries,
            "timeout_s": site.timeout_s,
            "timeout_recoverable": site.timeout_recoverable,
        },
        "phase": None if site.phase is None else write_phase(site.phase),
        "plugin": plugin,
        "relationship": None if site.relationship is None else write_relationship(site.relationship),
        "execution": write_execution(site.execution),
        "deployment": {
            "id": deployment.id,
            "blueprint": deployment.blueprint,
            "inputs": dict(deployment.inputs),
            "creator": deployment.creator,
            "description": deployment.description,
            "display_name": deployment.display_name,
            "resource_tags": dict(deployment.resource_tags),
            "runtime_only": deployment.runtime_only,
        },
        "code": asdict(deployment.code),
    }


def read_site(letter: Letter) -> Site:
    """Read the ``Site``, the data shared by all calls of one operation, that ``write_site`` wrote."""
    places = letter["code"]
    imported = tuple((namespace, folder) for namespace, folder in places["imported"])
    code = CodeLocation(
        places["blueprint_folder"], tuple(places["plugin_folders"]), imported, tuple(places["packages"])
    )
    return Site(
        **letter["site"],
        execution=ExecutionContext(**letter["execution"]),
        deployment=DeploymentContext(**letter["deployment"], code=code),
        plugin=None if letter["plugin"] is None else Plugin(**letter["plugin"]),
        relationship=None if letter["relationship"] is None else read_relationship(letter["relationship"]),
        phase=None if letter["phase"] is None else PhaseContext(**letter["phase"]),
    )


def read_call(letter: Letter, site: Site, channel: Channel, world: DeploymentLookup) -> PluginCall:
    """Read the call that ``write_call`` wrote."""
    if letter.get("decisions"):
        site = altered(site, execution=altered(site.execution, decisions=letter["decisions"]))
    subjects = {
        name: InstanceContext(view["id"], view["index"], view["number"], world)
        for name, view in letter["subjects"].items()
    }
    return PluginCall(site, letter["member"], letter["attempt"], channel, world, data=letter["data"], **subjects)


def write_outcome(outcome: Outcome) -> Letter:
    """Return an outcome as JSON."""
    return {
        "kind": int(outcome.kind),
        "delay_ms": outcome.delay_ms,
        "message": outcome.message,
        "error": dict(outcome.error),
        "result": outcome.result,
    }


def read_outcome(letter: Letter) -> Outcome:
    """Read the outcome that ``write_outcome`` wrote."""
    return Outcome(
        OutcomeKind(letter["kind"]), letter["delay_ms"], letter["message"], letter["error"], letter["result"]
    )


def write_changes(changes: Sequence[tuple[int, Mapping[PropertyPath, Value], Sequence[PropertyPath]]]) -> Changes:
    """Return changes as JSON: [(instance number, [(path, value)], [removed path])]."""
    return [
        (number, [(list(path), value) for path, value in written.items()], [list(path) for path in removed])
        for number, written, removed in changes
    ]


def read_changes(letter: Changes) -> list[tuple[int, dict[PropertyPath, Value], tuple[PropertyPath, ...]]]:
    """Read the changes that ``write_changes`` wrote."""
    return [
        (number, {tuple(path): value for path, value in written}, tuple(tuple(path) for path in removed))
        for number, written, removed in letter
    ]
