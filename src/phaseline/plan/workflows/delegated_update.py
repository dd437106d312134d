"""Run an update with the rounds of another workflow, which gets the affected instances as parameters (W60).

The parameters have the names that Cloudify uses. While the workflow runs, removed instances still exist and added ones
exist already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.workflows.update_or_reinstall import REINSTALL_LIST, kept

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import GoOn, Reshape, Round, Verdict
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.transforms.pipeline import Asked

WORKFLOW_ID = "workflow_id"
"""Parameter: name of the workflow that replaces the update's own rounds."""
HANDED_ON = ("skip_install", "skip_uninstall", "ignore_failure")
"""Parameters of the update that the other workflow gets unchanged."""


def handed_over(asked: Asked, rounds: tuple[Round, ...]) -> Graph | Reshape | GoOn | Verdict:
    """Return the answer of the other workflow's planner. ``rounds`` are the rounds of this workflow so far."""
    name = str(asked.request.parameters[WORKFLOW_ID])
    planner = asked.history.planner(name)
    if planner is None:
        raise ProblemsError(
            [Problem("PL-P009", f"there is no workflow '{name}'", "name one of the deployment's workflows")]
        )
    request = altered(asked.request, workflow=name, parameters=whom(asked), take_back=False)
    return planner(asked.topology, request, altered(asked.history, rounds=rounds), asked.declare)


def whom(asked: Asked) -> dict[str, Value]:
    """Return the parameters that describe the update to the other workflow.

    They are ids of added and removed instances, of instances with changed relationships, and of the neighbours of all
    these; the names of changed nodes; and parameters of the update itself, such as the instances to reinstall.
    """
    topology, given = asked.topology, asked.request.parameters
    started = topology.started
    assert started is not None, "the new blueprint was taken over"
    extended, reduced = kept(asked, "extended"), kept(asked, "reduced")
    named = given.get(REINSTALL_LIST)
    return {
        "update_id": asked.history.execution,
        "added_instance_ids": _ids(topology, started.added),
        "added_target_instances_ids": _ids(topology, _beside(topology, started.added, started.removed)),
        "removed_instance_ids": _ids(topology, started.removed),
        "remove_target_instance_ids": _ids(topology, _beside(topology, started.removed, started.added)),
        "extended_instance_ids": _ids(topology, topology.source[extended]),
        "extend_target_instance_ids": _ids(topology, topology.target[extended]),
        "reduced_instance_ids": _ids(topology, topology.source[reduced]),
        "reduce_target_instance_ids": _ids(topology, topology.target[reduced]),
        "modified_entity_ids": {"node": _nodes(topology, kept(asked, "changed"))},
        "node_instances_to_reinstall": [named] if isinstance(named, str) else named or [],
        **{key: given.get(key) is True for key in HANDED_ON},
    }


def _ids(topology: Topology, numbers: np.ndarray) -> list[Value]:
    return [topology.ids[number] for number in np.unique(numbers).tolist()]


def _nodes(topology: Topology, numbers: np.ndarray) -> list[Value]:
    return [topology.nodes[number].name for number in np.unique(topology.node[numbers]).tolist()]


def _beside(topology: Topology, numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the instances with a relationship to or from one of ``numbers``, as instance numbers.

    Instances in ``numbers`` or ``others`` are left out.
    """
    source, target = topology.source[topology.is_tied], topology.target[topology.is_tied]
    near = np.concatenate((target[np.isin(source, numbers)], source[np.isin(target, numbers)]))
    return near[~np.isin(near, np.concatenate((numbers, others)))]
