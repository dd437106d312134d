"""List and show deployments, and compute their outputs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol import secret_tracking
from phaseline.dsl.functions import outputs as functions_outputs
from phaseline.dsl.functions import plan_and_runtime_scopes, topology_view
from phaseline.model.blueprint.labels import labelled
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.sealed_values import HIDDEN, hidden_inputs
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import state_name
from phaseline.plan.rounds import pre_post_rounds
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.label_syntax import by_key, parse_labels
from phaseline.use_cases.lookup.secret_reveal import opened_documents, opened_inputs, without_secrets
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries import unrepaired_failures
from phaseline.views.views import DeploymentDetails, DeploymentView, Outputs, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.listings import Glance
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

UNREADABLE = "unreadable"
"""Status of a deployment whose stored rows cannot be read; it can only be listed and deleted."""
GONE = (InstanceState.UNINITIALIZED, InstanceState.DELETED)
IS_GONE = frozenset(map(int, GONE))
"""Numbers of the states in which nothing of an instance is installed."""


def list_deployments(
    ctx: RequestContext,
    *,
    status: str | None = None,
    text: str = "",
    labels: Sequence[str] = (),
    limit: int | None = None,
) -> Page[DeploymentView]:
    """Return deployments sorted by name, with the number of instances in each state and the latest execution.

    ``status``: only deployments with this status, as in ``DeploymentView.status``. ``text``: part of the name, of the
    description or of the blueprint's path. ``labels``: only deployments with all these labels, each ``KEY=VALUE`` or
    ``KEY``. Raises: PL-C068 for an invalid label.
    """
    rows = [row for row in ctx.store.deployments() if text.casefold() in _searched_text(row).casefold()]
    if labels:
        having = ctx.store.labels.having(parse_labels(labels))
        rows = [row for row in rows if row.number in having]
    if status is None:
        return Page(briefs(ctx.store, rows[:limit]), len(rows))
    views = [view for view in briefs(ctx.store, rows) if view.status == status]
    return Page(views[:limit], len(views))


def _searched_text(row: DeploymentRow) -> str:
    return f"{row.name} {row.description} {row.blueprint_file}"


def find_to_change(ctx: RequestContext, name: str) -> DeploymentDetails:
    """Return the deployment with exactly this name, because a command is going to change it.

    Raises: PL-C010 with the name that was probably intended.
    """
    return show_deployment(ctx, find_deployment(ctx.store, name, to_change=True).name)


def show_deployment(ctx: RequestContext, name: str) -> DeploymentDetails:
    """Return one deployment with its inputs, its nodes and the folders of its code."""
    store = ctx.store
    row = find_deployment(store, name)
    topology = store.topology(row.number)
    counts = np.bincount(topology.node[topology.is_there], minlength=len(topology.nodes)).tolist()
    nodes = {node.name: counts[number] for number, node in enumerate(topology.nodes) if number not in topology.past}
    inputs = dict(store.inputs(row.number))
    inputs |= dict.fromkeys(hidden_inputs(store.blueprint(row.number)) & inputs.keys(), HIDDEN)
    seen, uses = briefs(store, [row])[0], store.stored_blueprints.of_deployment(row.number)
    return DeploymentDetails(
        **{item.name: getattr(seen, item.name) for item in fields(seen)},
        inputs=inputs,
        nodes=nodes,
        folder=row.code.blueprint_folder,
        folder_is_there=Path(row.code.blueprint_folder).is_dir(),
        plugin_folders=row.code.plugin_folders,
        stored_blueprints={name: str(stored) for name, stored in uses.items()},
        labels=by_key(store.labels.of(row.number)),
        under_way=f"{started.name} by {started.execution}" if (started := topology.started) is not None else "",
    )


def outputs(ctx: RequestContext, name: str, *, reveal: bool = False) -> Outputs:
    """Compute the outputs and capabilities of a deployment from the present data of its instances.

    A value that contains a secret is shown as ``(hidden)``, except with ``reveal``. A value that needs a deleted secret
    is left out (B24).
    """
    store = ctx.store
    row = find_deployment(store, name)
    topology, documents = store.topology(row.number), opened_documents(ctx, row.number)
    blueprint, inputs = store.blueprint(row.number), opened_inputs(ctx, row.number)
    seen = plan_and_runtime_scopes.RuntimeScope(
        inputs,
        {node.name: node.properties for node in topology.nodes},
        topology_view.TopologyInstances(topology, lambda instance: documents.get(instance, {})),
        facts=topology_view.facts_of(
            row.name, labelled(blueprint, store.labels.of(row.number)), row.created_by, row.tenant, ctx.vault
        ),
    )
    scope = secret_tracking.Watch(inputs, hidden_inputs(blueprint), ctx.vault).over(seen)
    found = (
        functions_outputs.evaluate_outputs(blueprint.outputs, scope),
        functions_outputs.evaluate_outputs(blueprint.capabilities, scope),
    )
    return Outputs(row.name, *(found if reveal else (without_secrets(ctx, values) for values in found)))


def unread(store: TenantStore, row: DeploymentRow) -> str:
    """Return the reason why the stored rows of a deployment cannot be read, or "" if they can be read."""
    flaw = row.flaw or store.listings.rosters([row.number])[row.number].flaw
    if flaw:
        return flaw
    flaws = Flaws()
    with flaws.of(row.name):
        store.topology(row.number)
    return flaws.reasons[0] if flaws.reasons else ""


def living_count(store: TenantStore, row: DeploymentRow) -> int:
    """Return the number of instances that are installed, or may be installed."""
    return int(living(store, row).sum())


def living(store: TenantStore, row: DeploymentRow) -> np.ndarray:
    """Return a bool array by instance number: True if the instance is installed, or may be installed."""
    states = store.states(row.number)
    if row.kind == "resources":
        return np.asarray(states != REMOVED)
    is_gone = np.isin(_as_life_cycle(store, row, states), GONE)
    return np.asarray(~is_gone & store.topology(row.number).is_there)


def _as_life_cycle(store: TenantStore, row: DeploymentRow, states: np.ndarray) -> np.ndarray:
    names = store.state_names(row.number)  # none as long as no node has gone along a path
    return as_life_cycle(store.topology(row.number), states, names) if names else states


def open_execution(store: TenantStore, row: DeploymentRow) -> ExecutionRow | None:
    """Return the oldest open execution of a deployment, or None if all its executions have ended."""
    return next(iter(store.executions(row.number, only_open=True)), None)


def briefs(store: TenantStore, rows: Sequence[DeploymentRow]) -> list[DeploymentView]:
    """Return the deployments as rows for a list, without reading their blueprints."""
    glances = store.listings.glances([row.number for row in rows])
    return [_brief(store, row, glances[row.number]) for row in rows]


def _brief(store: TenantStore, row: DeploymentRow, glance: Glance) -> DeploymentView:
    flaw = row.flaw or glance.flaw
    counts = np.bincount(glance.states)
    present = counts.nonzero()[0]
    states = {
        state_name(state, glance.state_names): count
        for state, count in zip(present.tolist(), counts[present].tolist(), strict=True)
        if state != REMOVED
    }
    executions = glance.executions
    latest = executions[-1] if executions else None
    before = _left_behind(store, executions) if len(executions) > 1 and not flaw else ""
    return DeploymentView(
        name=row.name,
        status=UNREADABLE
        if flaw
        else _status_of_resources(executions)
        if row.kind == "resources"
        else _status(_that_acted(store, executions), _present(glance.life_cycle)),
        blueprint_file=row.blueprint_file,
        description=row.description,
        created_at=row.created_at,
        created_by=row.created_by,
        instance_count=sum(states.values()),
        states=states,
        latest_execution=latest.id if latest else "",
        latest_status=latest.status.value if latest else "",
        kind=row.kind,
        unfinished=before,
        flaw=flaw,
    )


def _left_behind(store: TenantStore, executions: Sequence[ExecutionRow]) -> str:
    found = unrepaired_failures.left_behind(store, executions)
    return "" if found is None else found.id


def _status_of_resources(executions: Sequence[ExecutionRow]) -> str:
    """Return the status of a cluster.

    It is "in_progress" while an execution is open, "requires_attention" if the last execution failed, and otherwise
    "good".
    """
    if any(not row.status.is_ended for row in executions):
        return "in_progress"
    return "requires_attention" if executions and executions[-1].status is ExecutionStatus.FAILED else "good"


def _that_acted(store: TenantStore, executions: Sequence[ExecutionRow]) -> Sequence[ExecutionRow]:
    """Return the executions without the latest ones if a hook class refused these: they changed nothing (H22)."""
    if not executions or not _was_refused(store, executions[-1]):
        return executions
    executions = store.executions(executions[-1].deployment)  # an earlier one may have completed
    count = len(executions)
    while count and _was_refused(store, executions[count - 1]):
        count -= 1
    return executions[:count]


def _was_refused(store: TenantStore, row: ExecutionRow) -> bool:
    if not row.request.is_surrounded or row.status is not ExecutionStatus.FAILED:
        return False

    return all(graph.name in {pre_post_rounds.OPENING, pre_post_rounds.UNDOING} for graph in store.graphs(row.number))


def _present(states: np.ndarray) -> set[int]:
    """Return the numbers of the states that at least one instance has."""
    return set(np.bincount(states).nonzero()[0].tolist())


def _status(executions: Sequence[ExecutionRow], states: set[int]) -> str:
    """Return the status of a deployment of nodes (W11).

    The latest execution decides if it is open or has failed; otherwise ``states``, the states of the instances, decide.
    """
    latest = executions[-1].status if executions else None
    if latest is not None and not latest.is_ended and latest is not ExecutionStatus.ATTENTION:
        return "in_progress"
    if latest in {ExecutionStatus.FAILED, ExecutionStatus.ATTENTION}:
        return "requires_attention"
    if states <= IS_GONE:
        return "not_installed"
    if states == {InstanceState.STARTED}:
        return "adopted" if executions[-1].request.workflow == "adopt" else "good"
    return "suspended" if states == {InstanceState.SUSPENDED} else "requires_attention"
