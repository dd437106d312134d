"""Check that no other deployment owns the instances of a document: both would change and delete them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from phaseline.model.deployment.physical_ids import physical_id
from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.lookup.find import listed
from phaseline.use_cases.lookup.secret_reveal import opened_documents
from phaseline.use_cases.queries.deployments import living

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.topology.adoption import Adoption


def raise_if_adopted_elsewhere(ctx: RequestContext, name: str, adoption: Adoption) -> None:
    """Raise PL-C095 for the first other deployment that has some of these instances and has not deleted them.

    Two instances are the same if they have the same random id and node type. They are also the same if they have the
    same identity in a cloud, and their nodes have the same type and properties.
    """
    for row in ctx.store.deployments():
        if row.kind == "resources" or row.name == name:
            continue
        same = sorted(_same(ctx, row, adoption))
        if same:
            text = f"this belongs to the deployment '{row.name}' already, and two would change the same things: {listed(same)}"
            mend = f"continue with that deployment, or abandon it first: phaseline abandon -d {row.name}"
            raise problem_error("PL-C095", text, mend, subject=row.name)


def _same(ctx: RequestContext, row: DeploymentRow, adoption: Adoption) -> Iterator[str]:
    """Yield the ids of instances to be adopted that exist in this deployment."""
    alive = living(ctx.store, row)
    if not alive.any():
        return
    there, here = ctx.store.topology(row.number), adoption.topology
    documents = opened_documents(ctx, row.number)
    known: dict[tuple[str, str], list[int]] = {}
    for number in alive.nonzero()[0].tolist():
        outside = physical_id(documents.get(number, {}))
        if outside is not None:
            known.setdefault((there.nodes[there.node[number]].type, outside), []).append(number)
    for at, document in adoption.documents.items():
        node = here.nodes[here.node[at]]
        number = there.number_of.get(here.ids[at], -1)
        is_same = number >= 0 and alive[number] and there.nodes[there.node[number]].type == node.type
        alike = known.get((node.type, physical_id(document) or ""), ())
        if is_same or any(_properties(there, other) == node.properties for other in alike):
            yield here.ids[at]


def _properties(topology: Topology, number: int) -> object:
    return topology.nodes[topology.node[number]].properties
