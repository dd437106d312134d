"""Computes the digest of a planned action on a deployment, by which a user approves exactly this plan."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from phaseline.dsl.documents.json_codec import blueprint_to_json
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.execution.stored_plans import PLAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.model.blueprint.blueprint import Value

DIGITS = 12
"""Number of hexadecimal digits of a digest; short, because users read digests to one another."""


def plan_digest(workflow: str, parameters: Mapping[str, Value], deployments: Iterable[LoadedDeployment]) -> str:
    """Return the digest of a workflow, its parameters, and the deployment before and, for an update, after it.

    Of a deployment it covers the blueprint, inputs that are not hidden, instances and their states. The parameter that
    names a stored plan is not covered.
    """
    found = hashlib.sha256()
    given = {name: value for name, value in parameters.items() if name != PLAN}
    found.update(json.dumps([workflow, given], sort_keys=True, default=str).encode())
    for one in deployments:
        hidden = hidden_inputs(one.blueprint)
        inputs = {name: value for name, value in one.inputs.items() if name not in hidden}
        there = one.topology.is_there
        ids = [one.topology.ids[number] for number in np.flatnonzero(there).tolist()]
        parts = [blueprint_to_json(one.blueprint), inputs, ids, one.states[there].tolist()]
        found.update(json.dumps(parts, sort_keys=True, default=str).encode())
    return found.hexdigest()[:DIGITS]
