"""Relabel: a deployment gets other labels, once the hook classes have agreed (decision 41)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.model.execution import Reshape
from phaseline.model.labels import Label, Relabelled
from phaseline.plan.workflow import Parameter, Workflow
from phaseline.plan.workflows.saying import saying

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint import Value
    from phaseline.model.execution import Request
    from phaseline.model.topology import Topology

RELABEL = "relabel"
"""Name of the workflow, and of its round."""
ADD, REMOVE = "add", "remove"
"""Parameters: labels as ``KEY=VALUE``; an empty value stands for all of its key."""


def relabelled(topology: Topology, request: Request) -> Reshape:
    """What changes of the labels."""
    return Reshape(RELABEL, topology, labels=asked_for(request))


def asked_for(request: Request) -> Relabelled:
    """What a request changes of the labels."""
    return Relabelled(_labels(request.parameters.get(ADD)), _labels(request.parameters.get(REMOVE)))


def claims(topology: Topology, request: Request) -> np.ndarray | None:  # noqa: ARG001 - the form of all claims
    """Nobody: no instance changes."""
    return np.zeros(len(topology), bool)


def _labels(said: Value) -> tuple[Label, ...]:
    words = (text.partition("=") for text in cast("Sequence[str]", said or ()))
    return tuple(Label(key, value) for key, _, value in words)


_PAIRS = Parameter((list,), "a list of KEY=VALUE")
WORKFLOW = Workflow(saying(RELABEL, relabelled), {ADD: _PAIRS, REMOVE: _PAIRS}, claims=claims)
