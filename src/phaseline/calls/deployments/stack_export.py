"""Exporting a deployment, from the store or from an engine, as one JSON document (``plan.topology.stack_document``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.stack_documents import NewDocument
from phaseline.model.execution.lifecycle_actions import action_of
from phaseline.model.health.checks import CheckKind, CheckResult, NewCheckResults
from phaseline.plan.topology.stack_document import FilesTaken, StackDocumentParts, document_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.stack_documents import DocumentKind
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import StoreRows

NO_FILES = FilesTaken()


def new_document(
    store: StoreRows,
    loaded: LoadedDeployment,
    row: ExecutionRow,
    kind: DocumentKind,
    name: str,
    files: FilesTaken = NO_FILES,
) -> NewDocument:
    """Return a stack document of this kind and name: the execution's deployment as it is in memory, with ``files``.

    Storing the document later encrypts its secrets.
    """
    topology = loaded.topology
    known = loaded.documented(topology.is_there.nonzero()[0])
    documents = {instance: loaded.document_of(instance) for instance in known}
    body = written_down(
        store,
        (row.deployment, row.deployment_name, row.tenant),
        (topology, loaded.states, documents),
        loaded.view.code,
        state_names=loaded.state_names,
        doing=(action_of(row.request.workflow), "IN_PROGRESS"),
        files=files,
    )
    return NewDocument(kind, name, row.deployment, row.deployment_name, row.number, body)


def called_ill(row: ExecutionRow, subjects: np.ndarray, reason: str, at: int) -> NewCheckResults:
    """Return a check result that marks these instances (int32) as unhealthy, because a user asked for it."""
    import numpy as np

    results = np.full(len(subjects), CheckResult.MARKED, np.uint8)
    bodies: dict[int, Value] = dict.fromkeys(subjects.tolist(), reason) if reason else {}
    return NewCheckResults(row.deployment, CheckKind.STATUS, subjects, results, at, row.number, bodies)


def written_down(
    store: StoreRows,
    deployment: tuple[int, str, str],
    shape: tuple[Topology, np.ndarray, Mapping[int, Mapping[str, Value]]],
    code: CodeLocation,
    *,
    state_names: tuple[str, ...],
    doing: tuple[str, str],
    files: FilesTaken = NO_FILES,
) -> dict[str, Value]:
    """Return the document of a deployment (number, name, tenant).

    ``shape`` is (topology, states as uint8 by instance number, {instance number: runtime properties}). ``doing`` is
    (the deployment's last action, the status of that action).
    """
    from phaseline.dsl.documents.json_codec import blueprint_to_json

    number, name, tenant = deployment
    topology, states, documents = shape
    evaluated = {node.name: node for at, node in enumerate(topology.nodes) if at not in topology.past}
    written = topology.blueprint
    blueprint = altered(written, nodes={name: evaluated.get(name, node) for name, node in written.nodes.items()})
    uses = store.stored_blueprints.of_deployment(number)
    facts = StackDocumentParts(
        name=name,
        id=f"{name}-{number}",
        action=doing[0],
        status=doing[1],
        template=blueprint_to_json(blueprint),
        inputs=store.inputs(number),
        topology=topology,
        states=states,
        documents=documents,
        code=code,
        state_names=state_names,
        labels=store.labels.of(number),
        tenant=tenant,
        uses={namespace: str(one) for namespace, one in uses.items()},
        packages=_packages(store, number),
        files=files,
    )
    return document_of(facts)


def _packages(store: StoreRows, deployment: int) -> list[Mapping[str, Value]]:
    """Return the packages that a deployment uses, by name, with their settings as stored."""
    used = store.packages.uses(deployment) if store.has_packages else ()
    rows = {row.number: row for row in store.packages.all()} if used else {}
    return [
        {
            "name": rows[use.package].name,
            "version": rows[use.package].version,
            "enabled": use.is_enabled,
            "imported": use.is_imported,
            "settings": dict(use.settings),
        }
        for use in used
    ]
