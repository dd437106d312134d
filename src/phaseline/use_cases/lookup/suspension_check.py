"""Refuse workflows that are invalid while instances are suspended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error
from phaseline.plan.requests import availability

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.deployment.topology import Topology


def raise_if_suspended(name: str, workflow: str, topology: Topology, states: np.ndarray) -> None:
    """Raise PL-C080 if the workflow changes running instances while some are suspended (as in source 2's system)."""
    count = availability.suspended_count(workflow, topology, states)
    if count:
        verb = "instance is" if count == 1 else "instances are"
        message = f"the workflow '{workflow}' changes what runs, and {count:,} {verb} suspended"
        raise problem_error("PL-C080", message, f"Resume them first: phaseline resume -d {name}", subject=name)
