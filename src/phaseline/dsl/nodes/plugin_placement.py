"""Where the plugins of a blueprint have their place: on which hosts, at which nodes in the middle, in which workflows (B34)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation

HOST_AGENT = "host_agent"
CENTRAL = "central_deployment_agent"
AUTO = "auto"


@frozen
class Placement:
    """Names of plugins, each once, in order of appearance.

    ``hosts``: {host: those that run on it, for itself and for all it contains}; ``central``: {node: those that run
    in the middle}; ``workflows``: those of the workflows.
    """

    hosts: Mapping[str, tuple[str, ...]]
    central: Mapping[str, tuple[str, ...]]
    workflows: tuple[str, ...]


def placement_of(blueprint: Blueprint) -> Placement:
    """The place of every plugin that an operation or workflow is mapped to; that of scripts only where an executor is named.

    An operation that goes to the agent of its host if there is one, and else to the middle (``auto``), counts so.
    """
    hosts: dict[str, dict[str, None]] = {}
    central: dict[str, dict[str, None]] = {}
    for node, operation in _located(blueprint.nodes):
        if operation.form == "function" or operation.executor != AUTO:
            host = node.host if _is_on_host(node, operation) else None
            table, place = (central, node.name) if host is None else (hosts, host)
            table.setdefault(place, {})[operation.plugin] = None
    workflows = dict.fromkeys(item.plugin for item in blueprint.workflows.values() if item.plugin)
    return Placement(
        {name: tuple(plugins) for name, plugins in hosts.items()},
        {name: tuple(plugins) for name, plugins in central.items()},
        tuple(workflows),
    )


def check_hosts(
    nodes: Mapping[str, Node],
    spot_of: Callable[[str], ElementPath],
    report: ProblemReport,
    open_types: Collection[str] = (),
) -> None:
    """Report nodes with an operation for the agent of a host that they do not have; each node once.

    ``open_types``: open types of nodes, which may be hosts.
    """
    wants: dict[str, str] = {}
    known: dict[int, str | None] = {}
    for node in nodes.values():
        sides = [(node.name, node.operations)]
        for item in node.relationships:
            sides += (node.name, item.source_operations), (item.target, item.target_operations)
        for name, operations in sides:
            if id(operations) not in known:  # many nodes share one
                known[id(operations)] = _on_agent(operations)
            wanted = known[id(operations)]
            if wanted is not None and name in nodes and nodes[name].host is None:
                wants.setdefault(name, wanted)
    for name, wanted in wants.items():
        if _top(nodes, name, open_types) in nodes:
            report.add(
                "PL-B069",
                f"'{name}' is on no host, but '{wanted}' is to run on one (executor: {HOST_AGENT})",
                "let the node be contained in a host, or write 'executor: central_deployment_agent'",
                spot_of(name),
                point="key",
            )


def _on_agent(operations: Mapping[str, Operation]) -> str | None:
    """The first operation of a table that is for an agent."""
    for item in operations.values():
        if item.executor == HOST_AGENT and item.is_implemented:
            return item.name
    return None


def _top(nodes: Mapping[str, Node], name: str, open_types: Collection[str]) -> str:
    """The outermost container; a name that is not among the nodes where a container could not be read, or may be a host."""
    while name in nodes:
        if any(kind in open_types for kind in nodes[name].type_hierarchy):
            return ""
        container = nodes[name].container
        if container is None:
            return name
        name = container
    return name


def _is_on_host(node: Node, operation: Operation) -> bool:
    return node.host is not None and operation.executor in {HOST_AGENT, AUTO}


def _located(nodes: Mapping[str, Node]) -> Iterator[tuple[Node, Operation]]:
    """Every implemented operation with the node at which it runs: those of a relationship at their side of it (W6)."""
    for node in nodes.values():
        for operation in node.operations.values():
            if operation.is_implemented:
                yield node, operation
        for item in node.relationships:
            for side, operations in ((node, item.source_operations), (nodes.get(item.target), item.target_operations)):
                for operation in operations.values():
                    if side is not None and operation.is_implemented:
                        yield side, operation
