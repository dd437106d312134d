"""Find out which plugins run on which hosts, which run in the central agent, and which carry out workflows (B34)."""

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
    """Names of plugins by the place where they run, each once, in order of appearance.

    ``hosts`` is {host: plugins that run on it, for itself and for all nodes inside it}. ``central`` is {node: plugins
    that run for it in the central agent}. ``workflows`` are the plugins that carry out workflows.
    """

    hosts: Mapping[str, tuple[str, ...]]
    central: Mapping[str, tuple[str, ...]]
    workflows: tuple[str, ...]


def placement_of(blueprint: Blueprint) -> Placement:
    """Return where the plugins run to which operations and workflows are mapped.

    A script counts only if it names an executor. The executor ``auto`` counts as the agent of the node's host, or as
    the central agent if the node has no host.
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
    """Report each node that has an operation for the agent of its host, but no host.

    ``open_types`` are node types without a known declaration. A node of such a type may be a host.
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
    """Return the name of the first implemented operation that runs in the agent of a host, or None."""
    for item in operations.values():
        if item.executor == HOST_AGENT and item.is_implemented:
            return item.name
    return None


def _top(nodes: Mapping[str, Node], name: str, open_types: Collection[str]) -> str:
    """Return the outermost container of a node, or the node itself if it has no container.

    Return a name that is no node if a container could not be read. Return "" if the node or a container of it has an open
    type, because it may be a host.
    """
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
    """Yield every implemented operation with the node at which it runs.

    The source operations of a relationship run at its source, its target operations at its target (W6).
    """
    for node in nodes.values():
        for operation in node.operations.values():
            if operation.is_implemented:
                yield node, operation
        for item in node.relationships:
            for side, operations in ((node, item.source_operations), (nodes.get(item.target), item.target_operations)):
                for operation in operations.values():
                    if side is not None and operation.is_implemented:
                        yield side, operation
