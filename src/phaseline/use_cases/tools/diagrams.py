"""Draw plans, deployments and blueprints as text for a diagram program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.dsl import reader
from phaseline.plan.preview.diagram import Drawing, of_nodes
from phaseline.use_cases.loading import blueprint_loading
from phaseline.use_cases.lookup import find
from phaseline.use_cases.queries import instances

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


def draw_blueprint(ctx: RequestContext, file: str, *, plugin_folders: Sequence[str] = ()) -> Drawing:
    """Draw the nodes of a blueprint (a file, or the id of a stored one). Raises: ProblemsError with its problems."""
    opened = blueprint_loading.open_blueprint(ctx, file, plugin_folders)
    blueprint, _ = reader.read_whole(opened.file, opened.files)
    lines = {
        name: [f"× {node.default_instances:,}"]
        for name, node in blueprint.nodes.items()
        if isinstance(node.default_instances, int) and node.default_instances != 1
    }
    return of_nodes(file, blueprint.nodes.values(), lines)


def draw_deployment(ctx: RequestContext, name: str) -> Drawing:
    """Draw the nodes of a deployment with their instances by state.

    Raises: PL-C010 for an unknown deployment, PL-C013 if several names begin with ``name``.
    """
    row = find.find_deployment(ctx.store, name)
    topology = ctx.store.topology(row.number)
    page = instances.list_instances(ctx, deployment=row.name, limit=max(len(topology), 1))
    states: dict[str, Counter[str]] = {}
    for view in page.items:
        states.setdefault(view.node, Counter())[view.state] += 1
    lines = {
        node: [", ".join(f"{count:,} {state}" for state, count in found.items())] for node, found in states.items()
    }
    there = set(np.unique(topology.node[topology.is_there]).tolist())
    nodes = [node for number, node in enumerate(topology.nodes) if number in there]
    return of_nodes(row.name, nodes, lines)
