"""Whether a hook class has changed what it was only to look at, by another way than the views (``hooks.verify = digest``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.model.execution.pre_post import PinnedHookClass


class ChangedBehindTheView(Exception):
    """It has; the text names the class and what is different."""


def verified(deployment: LoadedDeployment, hook: PinnedHookClass, call: Callable[[], object]) -> None:
    """Make the call between two digests of the deployment, to detect changes. Costs 6 ms for a thousand instances.

    Concurrent writes do not count: writers replace documents, and the compared ones are held.

    Raises: ``ChangedBehindTheView``, and what the call raises.
    """
    held = deployment.as_is()
    before = digests(held)
    call()
    changed = [part for part, digest in digests(held).items() if digest != before[part]]
    if changed:
        text = f"the class {hook.implementation} has changed the {' and the '.join(changed)} of the deployment behind its view"
        raise ChangedBehindTheView(text)


def digests(deployment: LoadedDeployment) -> dict[str, str]:
    """{what: a digest of it}."""
    topology = deployment.topology
    documents = [deployment.document_of(number) for number in range(len(topology))]
    parts = {
        "inputs": deployment.inputs,
        "properties of nodes": [node.properties for node in topology.nodes],
        "runtime properties": documents,
        "states": deployment.states.tolist(),
    }
    return {part: _digest(value) for part, value in parts.items()}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
