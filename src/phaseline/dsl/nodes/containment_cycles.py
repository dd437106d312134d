"""Find nodes that contain themselves or wait for themselves, and find the host of each node (B18, N4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.lang import cycles
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Node

_SHOWN = 8


def with_hosts(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Return the nodes with ``host`` set: the nearest Compute node that contains them, or a Compute node itself.

    No node may contain itself, directly or through others.
    """
    hosts: dict[str, str | None] = {name: name for name, node in nodes.items() if node.is_host}
    changed = dict(nodes)
    if not hosts:
        return changed
    for name, node in nodes.items():
        host = hosts.get(name)
        if host is None and node.relationships:
            host = _host(name, nodes, hosts)
        if host is not None:
            changed[name] = altered(node, host=host)
    return changed


def _host(name: str, nodes: Mapping[str, Node], hosts: dict[str, str | None]) -> str | None:
    chain: list[str] = []
    current: str | None = name
    while current is not None and current not in hosts:
        chain.append(current)
        node = nodes.get(current)
        current = node.container if node is not None else None
    host = hosts[current] if current is not None else None
    hosts.update(dict.fromkeys(chain, host))
    return host


def check_circles(nodes: Mapping[str, Node], spot_of: Callable[[str], ElementPath], report: ProblemReport) -> bool:
    """Return True if no node contains itself or waits for itself; otherwise report one circle of nodes that do."""
    waits = {name: [item.target for item in node.relationships] for name, node in nodes.items()}
    if not any(waits.values()):
        return True
    circle = cycles.first_cycle(waits)
    if not circle:
        return True
    inside = cycles.first_cycle({name: [node.container] for name, node in nodes.items()})
    if inside:
        report.add(
            "PL-B044",
            f"nodes contain one another in a circle: {_shown(inside)}",
            "remove one of these relationships",
            spot_of(inside[0]).at("relationships"),
            point="key",
        )
        return False
    report.add(
        "PL-B047",
        f"nodes wait for one another in a circle: {_shown(circle)}",
        "remove or turn one of these relationships: a node is installed after its targets",
        spot_of(circle[0]).at("relationships"),
        point="key",
    )
    return False


def _shown(circle: list[str]) -> str:
    names = [*circle, circle[0]]
    if len(names) > _SHOWN:
        names = [*names[: _SHOWN - 2], "…", names[-1]]
    return " → ".join(names)
