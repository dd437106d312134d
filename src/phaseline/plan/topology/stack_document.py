"""Write a whole deployment as a document, for exports, snapshots and abandoned deployments (spec of hooks, section 10).

The outer keys are exactly those of Heat's documents (source 2), so that readers of Heat's documents can read these.
The additional key ``phaseline`` holds what Heat's keys cannot express: node instances and relationships. Secrets are
sealed, as in the store.

Example of two instances: ``document_of`` writes each as a resource under its instance id, with the id of the real
resource and the runtime properties as ``resource_data``; ``adoption`` makes an equal topology from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import as_dict, frozen
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.physical_ids import physical_id
from phaseline.model.resources.state_graph_names import state_name

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.labels import Label
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.topology import Topology

FORMAT = 1
"""Version of the format of the part ``phaseline``; a document with a higher version is refused."""
NATIVE = "phaseline"
"""Phaseline's own key in a document, beside the keys that Heat uses."""
KEYS = (
    "name", "id", "action", "status", "template", "environment", "files", "project_id", "stack_user_project_id", "tags",
    "resources",
)  # fmt: skip
RESOURCE_KEYS = ("name", "resource_id", "type", "action", "status", "metadata", "resource_data")
"""The exact keys that Heat uses in a document (``KEYS``) and in each of its resources (``RESOURCE_KEYS``)."""
METADATA = "metadata"
NOT_THERE = (int(State.UNINITIALIZED), int(State.DELETED))
"""States of instances without a real resource."""
HALF_MADE = frozenset(range(int(State.INITIALIZING), int(State.STARTED))) | {State.STOPPING, State.DELETING}
ACTIONS: Mapping[int, str] = {State.SUSPENDED: "SUSPEND", State.STOPPED: "SUSPEND", State.DELETED: "DELETE"}


@frozen
class FilesTaken:
    """The files of a blueprint in a document.

    ``files`` is {path: text, or ``{base64: …}``}; ``main`` is the path of the blueprint's main file; ``executable`` are
    paths of executable files; ``digest`` is a hash of all. ``left_out`` is the reason if the document has no files.
    """

    files: Mapping[str, Value] = field(default_factory=dict)
    main: str = ""
    executable: Sequence[str] = ()
    digest: str = ""
    left_out: str = ""


@frozen
class StackDocumentParts:
    """Everything from which a document is made.

    ``template`` is the blueprint as JSON. ``inputs`` and ``documents`` ({instance number: runtime properties}) are as
    stored. ``states`` is uint8 by instance number; ``state_names`` are the names of states of paths. ``uses`` is
    {namespace: stored blueprint}. ``packages`` are the used packages, as ``{name, version, enabled, imported,
    settings}``, with secrets sealed.
    """

    name: str
    id: str
    action: str
    status: str
    template: Value
    inputs: Mapping[str, Value]
    topology: Topology
    states: np.ndarray
    documents: Mapping[int, Mapping[str, Value]]
    code: CodeLocation
    state_names: tuple[str, ...] = ()
    labels: Sequence[Label] = ()
    tenant: str = ""
    uses: Mapping[str, str] | None = None
    packages: Sequence[Mapping[str, Value]] = ()
    files: FilesTaken = FilesTaken()


def document_of(facts: StackDocumentParts) -> dict[str, Value]:
    """Return the document as JSON values."""
    return {
        "name": facts.name,
        "id": facts.id,
        "action": facts.action,
        "status": facts.status,
        "template": facts.template,
        "environment": {"parameters": dict(facts.inputs), "resource_registry": {}},
        "files": dict(facts.files.files),
        "project_id": facts.tenant,
        "stack_user_project_id": "",
        "tags": [f"{label.key}={label.value}" for label in facts.labels],
        "resources": _resources(facts),
        NATIVE: _native(facts),
    }


def digest_of(template: Value) -> str:
    """Return the digest of a template.

    An adoption compares it with the digest in the document, because an unchanged template needs no further check.
    """
    import hashlib
    import json

    plain = json.loads(json.dumps(template))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def as_others_have_it(document: Mapping[str, Value]) -> dict[str, Value]:
    """Return the document with only the keys that Heat uses."""
    return {key: document[key] for key in KEYS}


def _resources(facts: StackDocumentParts) -> dict[str, Value]:
    topology = facts.topology
    found: dict[str, Value] = {}
    for number in topology.is_there.nonzero()[0].tolist():
        id, node = topology.ids[number], topology.nodes[topology.node[number]]
        runtime, state = facts.documents.get(number, {}), int(facts.states[number])
        metadata = runtime.get(METADATA)
        outside = physical_id(runtime, node.properties) or id
        found[id] = {
            "name": id,
            "resource_id": None if state in NOT_THERE else outside,
            "type": node.type,
            "action": ACTIONS.get(state, "CREATE"),
            "status": "IN_PROGRESS" if state in HALF_MADE else "COMPLETE",
            "metadata": metadata if isinstance(metadata, dict) else {},
            "resource_data": dict(runtime),
        }
    return found


def _native(facts: StackDocumentParts) -> dict[str, Value]:
    """Return the content of the key ``phaseline``: instances and relationships by ids, without removed instances."""
    topology = facts.topology
    there = topology.is_there
    instances: list[Value] = []
    for number in there.nonzero()[0].tolist():
        container = int(topology.container[number])
        group = int(topology.group[number]) if len(topology.group) else -1
        instances.append(
            {
                "id": topology.ids[number],
                "node": topology.nodes[topology.node[number]].name,
                "index": int(topology.index[number]),
                "container": topology.ids[container] if container >= 0 else None,
                "group": topology.groups.ids[group] if group >= 0 else None,
                "state": state_name(int(facts.states[number]), facts.state_names),
            }
        )
    code: Mapping[str, Value] = as_dict(facts.code)
    return {
        "format": FORMAT,
        "template_digest": digest_of(facts.template),
        "code": {**code, "imported": [list(one) for one in facts.code.imported]},
        "uses": dict(facts.uses or {}),
        **_files(facts.files),
        **({"packages": [dict(one) for one in facts.packages]} if facts.packages else {}),
        "counts": dict(topology.counts),
        **(
            {"restricted": {name: list(said) for name, said in topology.restricted.items()}}
            if topology.restricted
            else {}
        ),
        "instances": instances,
        "groups": _groups(topology),
        "relationships": _relationships(topology),
    }


def _files(taken: FilesTaken) -> dict[str, Value]:
    """Return facts about the files besides their contents; empty if no files were requested."""
    if taken.left_out:
        return {"files": {"left_out": taken.left_out}}
    if not taken.main:
        return {}
    return {"files": {"main": taken.main, "executable": list(taken.executable), "digest": taken.digest}}


def _groups(topology: Topology) -> list[Value]:
    groups = topology.groups
    found: list[Value] = []
    for number in groups.is_there.nonzero()[0].tolist():
        outer, container = int(groups.outer[number]), int(groups.container[number])
        found.append(
            {
                "id": groups.ids[number],
                "group": groups.names[groups.group[number]],
                "index": int(groups.index[number]),
                "outer": groups.ids[outer] if outer >= 0 else None,
                "container": topology.ids[container] if container >= 0 else None,
            }
        )
    return found


def _relationships(topology: Topology) -> list[Value]:
    """Return [source id, target id, index in the source's template] of each relationship instance that has a row."""
    cut = np.fromiter((link.is_cut for link in topology.links), bool, len(topology.links))
    rows = topology.is_tied & ~cut[topology.link] if len(topology.link) else np.empty(0, bool)
    return [
        [
            topology.ids[topology.source[row]],
            topology.ids[topology.target[row]],
            topology.links[topology.link[row]].place,
        ]
        for row in rows.nonzero()[0].tolist()
    ]
