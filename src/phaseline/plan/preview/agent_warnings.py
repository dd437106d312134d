"""Warn about hosts whose blueprint asks for an agent, because Phaseline installs no agents (decision 8).

Every install method is treated like ``none``; one warning names the hosts that ask for another method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Place, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Node, Value

SHOWN_HOSTS = 5
"""Largest number of hosts that the warning names. It gives the number of the others."""


def install_method(properties: Mapping[str, Value]) -> str:
    """Return the install method that a host asks for its agent.

    It is ``none``, ``remote``, ``init_script``, ``plugin`` or ``provided`` (spec 11.6).
    """
    switch = properties.get("install_agent")
    if isinstance(switch, bool):
        return "remote" if switch else "none"
    config = properties.get("agent_config")
    method = config.get("install_method") if isinstance(config, dict) else None
    return method if isinstance(method, str) else "none"


def agent_warning(nodes: Sequence[Node]) -> Problem | None:
    """Return the warning that names all hosts among ``nodes`` whose blueprint asks for an agent; None if none does."""
    asking = [(node, install_method(node.properties)) for node in nodes if node.is_host]
    asking = [(node, method) for node, method in asking if method != "none"]
    if not asking:
        return None
    named = ", ".join(f"{node.name} ({method})" for node, method in asking[:SHOWN_HOSTS])
    more = f" and {len(asking) - SHOWN_HOSTS} more" if len(asking) > SHOWN_HOSTS else ""
    return Problem(
        "PL-P005",
        f"no agents are installed: operations of {named}{more} run on this machine",
        "set agent_config.install_method to none to accept this",
        Place(subject=asking[0][0].name) if not asking[0][0].place.file else asking[0][0].place,
        severity="warning",
    )
