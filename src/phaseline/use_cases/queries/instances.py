"""List and show node instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.deployment import restrictions
from phaseline.model.deployment.sealed_values import veiled_properties
from phaseline.model.health import system_properties as health_system_properties
from phaseline.model.phases.phase_data import attributes_in
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.instance_rows import LIFE_CYCLE, rows_of
from phaseline.model.rows.row_queries import InstanceQuery
from phaseline.use_cases.lookup.find import find_deployment, find_instance
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries.resources import node_phases
from phaseline.views.views import InstanceView, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.instance_rows import InstanceRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.views.phase_entry import PhaseEntryView


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
    number = find_deployment(store, deployment).number if deployment else None
    page = store.listings.instances(InstanceQuery(number, node or "", state or "", limit=limit))
    if not page.total:
        _raise_if_unknown(store, number, node, state)
    flaws = Flaws()
    for name, why in page.flaws.items():
        flaws.add(name, why)
    return Page([_view(row) for row in page.rows], page.total, flaws.told)


def _raise_if_unknown(store: TenantStore, deployment: int | None, node: str | None, state: str | None) -> None:
    """Raise PL-C012 for a node that the deployments do not have, and for a state that no instance can be in."""
    if state is not None and state not in LIFE_CYCLE:
        states = {**LIFE_CYCLE, **dict.fromkeys(sorted(store.listings.state_names(deployment)))}
        if state not in states:
            hint = did_you_mean(state, states) or f"there are: {', '.join(states)}"
            raise problem_error("PL-C012", f"there is no state '{state}'", f"correct the name; {hint}")
    if node is not None:
        names = store.listings.node_names(deployment)
        if node not in names:
            hint = did_you_mean(node, names)
            raise problem_error(
                "PL-C012",
                f"there is no node '{node}'",
                f"correct the name; {hint}" if hint else "see: deployments show NAME",
            )


def show_instance(ctx: RequestContext, id: str, *, deployment: str | None = None) -> InstanceView:
    """Return one instance with its runtime properties and relationships. ``id``: its id or a unique beginning."""
    row, topology, number = find_instance(ctx.store, id, deployment)
    roster = ctx.store.listings.rosters([row.number])[row.number]
    brief = _view(next(rows_of(roster, row.name, [number])))
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


def _view(row: InstanceRow) -> InstanceView:
    return InstanceView(
        id=row.id,
        node=row.node,
        deployment=row.deployment,
        index=row.index,
        state=row.state,
        host=row.host,
        container=row.container,
        health=HEALTH[row.status],
        drift=DRIFT[row.drift],
    )
