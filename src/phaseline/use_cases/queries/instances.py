"""List and show node instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.deployment import restrictions
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.sealed_values import veiled_properties
from phaseline.model.health import system_properties as health_system_properties
from phaseline.model.health.checks import CheckKind, Checks
from phaseline.model.phases.phase_data import attributes_in
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import state_name, state_numbers
from phaseline.use_cases.lookup.find import find_deployment, find_instance, rosters_of
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries.resources import node_phases
from phaseline.views.views import InstanceView, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.listings import Roster
    from phaseline.views.phase_entry import PhaseEntryView


LIFE_CYCLE = {state.word: int(state) for state in InstanceState}
NO_STATE = -1
HEALTH = ("", "unhealthy", "healthy", "", "healed", "unhealthy")
DRIFT = ("", "unknown", "none", "drifted", "")
"""Words for the results of drift checks, indexed by the stored number of the result."""


def list_instances(
    ctx: RequestContext,
    *,
    deployment: str | None = None,
    node: str | None = None,
    state: str | None = None,
    limit: int | None = None,
) -> Page[InstanceView]:
    """Return instances without their properties, by deployment and number.

    Raises: PL-C012 for a node that the deployments do not have, and for a state that none of their instances can be in.
    """
    store = ctx.store
    rows = [find_deployment(store, deployment)] if deployment else list(store.deployments())
    found: list[InstanceView] = []
    total = 0
    names: set[str] = set()
    known_states: dict[str, None] = dict.fromkeys(LIFE_CYCLE)
    flaws = Flaws()
    for row, roster in rosters_of(store, rows):
        if roster.flaw:
            flaws.add(row.name, roster.flaw)
        if node is not None:
            names.update(roster.nodes)
        known_states.update(dict.fromkeys(roster.state_names))
        numbers = _chosen(roster, node, state)
        total += len(numbers)
        shown = numbers if limit is None else numbers[: max(0, limit - len(found))]
        if len(shown):
            checks = Checks()
            if roster.is_checked:
                with flaws.of(row.name):
                    checks = store.checks(row.number, only_results=True).checks
            found.extend(_brief(roster, row.name, number, checks) for number in shown.tolist())
    if state is not None and state not in known_states:
        hint = did_you_mean(state, known_states) or f"there are: {', '.join(known_states)}"
        raise problem_error("PL-C012", f"there is no state '{state}'", f"correct the name; {hint}")
    if node is not None and node not in names:
        hint = did_you_mean(node, names)
        raise problem_error(
            "PL-C012",
            f"there is no node '{node}'",
            f"correct the name; {hint}" if hint else "see: deployments show NAME",
        )
    return Page(found, total, flaws.told)


def show_instance(ctx: RequestContext, id: str, *, deployment: str | None = None) -> InstanceView:
    """Return one instance with its runtime properties and relationships. ``id``: its id or a unique beginning."""
    row, topology, number = find_instance(ctx.store, id, deployment)
    roster = ctx.store.listings.rosters([row.number])[row.number]
    brief = _brief(roster, row.name, number, ctx.store.checks(row.number, only_results=True).checks)
    order, ptr = topology.rows_by_source
    rows = order[ptr[number] : ptr[number + 1]]
    targets = rows[topology.is_there[topology.target[rows]]].tolist()
    relationships = [
        (topology.links[int(topology.link[place_])].relationship.type, topology.ids[int(topology.target[place_])])
        for place_ in targets
    ]
    for link in topology.links:
        if link.is_rule and link.source == int(topology.node[number]):
            relationships.extend(
                (link.relationship.type, topology.ids[target]) for target in topology.instances_of(link.target).tolist()
            )
    document = veiled_properties(ctx.store.documents(row.number, [number]).get(number, {}))
    return InstanceView(
        id=brief.id,
        node=brief.node,
        deployment=brief.deployment,
        index=brief.index,
        state=brief.state,
        host=brief.host,
        container=brief.container,
        runtime_properties=attributes_in(document),
        relationships=relationships,
        scaling_groups=[(name, topology.groups.ids[inside]) for name, inside in _groups(topology, number)],
        health=brief.health,
        drift=brief.drift,
        system_properties=veiled_properties(_system_properties(ctx, row.number, topology, number)),
        phases=_phases(ctx, row.number, number, document),
        restricted_actions=restrictions.restricted_of(topology, number),
    )


def _phases(ctx: RequestContext, deployment: int, number: int, document: dict[str, Value]) -> Sequence[PhaseEntryView]:
    """Return the phases that a node instance, given by its number, has been in.

    Return nothing, without reading graphs, if no instance of the deployment has ever followed a state path.
    """
    if not ctx.store.state_names(deployment):
        return ()

    return node_phases.phases_of_node(ctx.store, deployment, number, document)


def _system_properties(ctx: RequestContext, deployment: int, topology: Topology, number: int) -> dict[str, Value]:
    """Return the system properties of one instance, such as the results of its checks."""
    state = int(ctx.store.states(deployment)[number])
    names: dict[int, str] = {}

    def named(execution: int) -> str:
        if not names:
            names.update((row.number, row.id) for row in ctx.store.executions(deployment))
        return names.get(execution, "")

    return health_system_properties.system_properties(ctx.store.checks(deployment), topology, number, state, named)


def _groups(topology: Topology, number: int) -> Iterator[tuple[str, int]]:
    """Yield (name, group instance number) of the scaling groups that contain an instance, innermost first (N1)."""
    inside = int(topology.group[number]) if len(topology.group) else -1
    while inside >= 0:
        yield topology.groups.names[topology.groups.group[inside]], inside
        inside = int(topology.groups.outer[inside])


def _chosen(roster: Roster, node: str | None, state: str | None) -> np.ndarray:
    chosen = (roster.states != REMOVED) & roster.is_there
    if node is not None:
        chosen &= np.isin(roster.node, [number for number, name in enumerate(roster.nodes) if name == node])
    if state is not None:
        chosen &= roster.states == {**state_numbers(roster.state_names), **LIFE_CYCLE}.get(state, NO_STATE)
    return np.flatnonzero(chosen)


def _brief(roster: Roster, deployment: str, number: int, checks: Checks) -> InstanceView:
    host, container = int(roster.host[number]), int(roster.container[number])
    return InstanceView(
        id=roster.ids[number],
        node=roster.nodes[int(roster.node[number])],
        deployment=deployment,
        index=int(roster.index[number]),
        state=state_name(int(roster.states[number]), roster.state_names),
        host=roster.ids[host] if host >= 0 else "",
        container=roster.ids[container] if container >= 0 else "",
        health=HEALTH[checks.of(CheckKind.STATUS, number)],
        drift=DRIFT[checks.of(CheckKind.DRIFT, number)],
    )
