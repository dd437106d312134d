"""List and show deployments, and compute their outputs."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from phaseline.calls.deployments import dependency_reads, other_deployments
from phaseline.calls.protocol import secret_tracking
from phaseline.dsl.functions import other_deployments as other_functions
from phaseline.dsl.functions import outputs as functions_outputs
from phaseline.dsl.functions import plan_and_runtime_scopes, topology_view
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import PARENT_LABEL, Label, labelled
from phaseline.model.deployment.sealed_values import HIDDEN, hidden_inputs
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.model.resources.resources import REMOVED
from phaseline.model.rows import row_queries
from phaseline.model.rows.deployment_summaries import GONE, DeploymentSummary
from phaseline.use_cases.lookup import read_ahead
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.label_syntax import by_key, parse_labels
from phaseline.use_cases.lookup.secret_reveal import opened_documents, opened_inputs, without_secrets
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries import unrepaired_failures
from phaseline.views.views import DeploymentDetails, DeploymentView, Outputs, Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.dsl.functions.other_deployments import CapabilityReads
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import TenantStore


class _Dependencies(TypedDict, total=False):
    """Fields of ``DeploymentDetails`` about dependencies."""

    providers: Mapping[str, Sequence[str]]
    consumers: Sequence[str]
    consumer_count: int


CONSUMERS_SHOWN = 20
"""Most consumers of a deployment that are shown with it; all are counted."""
UNREADABLE = "unreadable"
"""Status of a deployment whose stored rows cannot be read; it can only be listed and deleted."""
MISSING = DeploymentSummary("", flaw="a row of it is missing")


def list_deployments(
    ctx: RequestContext,
    *,
    status: str | None = None,
    text: str = "",
    labels: Sequence[str] = (),
    top: bool = False,
    limit: int | None = None,
) -> Page[DeploymentView]:
    """Return deployments sorted by name, with the number of instances in each state and the latest execution.

    ``status``: only deployments with this status, as in ``DeploymentView.status``. ``text``: part of the name, of the
    description or of the blueprint's path. ``labels``: only deployments with all these labels, each ``KEY=VALUE`` or
    ``KEY``. ``top``: none that a component of another deployment has made. Raises: PL-C068 for an invalid label.
    """
    wanted = row_queries.DeploymentQuery(
        status="" if status in {None, UNREADABLE} else status, labels=parse_labels(labels), text=text, limit=limit
    )
    with ctx.store.at_once():
        if status == UNREADABLE or top:
            rows = ctx.store.listings.deployments(altered(wanted, limit=None))
            views = [
                view
                for view in briefs(ctx.store, rows)
                if not (top and view.outer) and (status != UNREADABLE or view.status == status)
            ]
            return Page(views[:limit], len(views))
        rows, total = ctx.store.listings.page(wanted)
        return Page(briefs(ctx.store, rows), total)


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
        **_dependencies(store, row),
        under_way=f"{started.name} by {started.execution}" if (started := topology.started) is not None else "",
    )


def _dependencies(store: TenantStore, row: DeploymentRow) -> _Dependencies:
    """Return which deployments this one reads and which read it; empty if there are none, which is the common case."""
    children = store.labels.having([Label(PARENT_LABEL, row.name)]) - {row.number}
    has_records = store.has_dependencies
    is_read = bool(children) or (has_records and store.dependencies.count_on(row.number) > 0)
    reads = (has_records and bool(store.dependencies.of(row.number))) or any(
        one.key == PARENT_LABEL for one in store.labels.of(row.number)
    )
    if not (is_read or reads):
        return {}
    providers: dict[str, list[str]] = {}
    for read in dependency_reads.read_by(store, row) if reads else ():
        if read.name:
            providers.setdefault(read.name, []).append(dependency_reads.short_place(read.dependency.creator))
    names = {record.name for page in dependency_reads.readers_of(store, row) for record in page} if is_read else set()
    return {"providers": providers, "consumers": sorted(names)[:CONSUMERS_SHOWN], "consumer_count": len(names)}


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
        others=cache(lambda: _others(ctx, row)),
    )
    scope = secret_tracking.Watch(inputs, hidden_inputs(blueprint), ctx.vault).over(seen)
    found = (
        functions_outputs.evaluate_outputs(blueprint.outputs, scope),
        functions_outputs.evaluate_outputs(blueprint.capabilities, scope),
    )
    return Outputs(row.name, *(found if reveal else (without_secrets(ctx, values) for values in found)))


def _others(ctx: RequestContext, row: DeploymentRow) -> CapabilityReads:
    """Return what reads other deployments for the outputs of a deployment."""
    memo = other_deployments.CapabilityMemo()
    beyond = other_deployments.OtherDeployments(ctx.store, ctx.vault, row, memo=memo)
    return other_functions.CapabilityReads(beyond)


def unread(store: TenantStore, row: DeploymentRow) -> str:
    """Return the reason why the stored rows of a deployment cannot be read, or "" if they can be read."""
    flaw = row.flaw or store.listings.rosters([row.number])[row.number].flaw
    if flaw:
        return flaw
    flaws = Flaws()
    with flaws.of(row.name):
        store.topology(row.number)
    return flaws.reasons[0] if flaws.reasons else ""


def living_count(store: ExecutionReads, row: DeploymentRow) -> int:
    """Return the number of instances that are installed, or may be installed."""
    return int(living(store, row).sum())


def living(store: ExecutionReads, row: DeploymentRow) -> np.ndarray:
    """Return a bool array by instance number: True if the instance is installed, or may be installed."""
    states = store.states(row.number)
    if row.kind == "resources":
        return np.asarray(states != REMOVED)
    is_gone = np.isin(_as_life_cycle(store, row, states), GONE)
    return np.asarray(~is_gone & store.topology(row.number).is_there)


def _as_life_cycle(store: ExecutionReads, row: DeploymentRow, states: np.ndarray) -> np.ndarray:
    names = store.state_names(row.number)  # none as long as no node has gone along a path
    return as_life_cycle(store.topology(row.number), states, names) if names else states


def open_execution(store: TenantStore, row: DeploymentRow) -> ExecutionRow | None:
    """Return the oldest open execution of a deployment, or None if all its executions have ended."""
    return next(iter(store.executions(row.number, only_open=True)), None)


def outers_of(store: TenantStore, deployments: Sequence[int]) -> Mapping[int, str]:
    """Return {number: name of the deployment whose Component has made it}; without outer ones that were deleted."""
    caused = [row for row in store.causes.of_deployments(deployments) if row.cause.kind == "component"]
    if not caused:
        return {}
    rows = store.listings.executions(row_queries.ExecutionQuery(numbers={row.cause.number for row in caused}))
    makers = {row.number: row.deployment for row in rows}
    living = store.listings.deployments(row_queries.DeploymentQuery(numbers=set(makers.values())))
    named = {row.number: row.name for row in living}
    found = {row.number: named.get(makers.get(row.cause.number, 0), "") for row in caused}
    return {number: name for number, name in found.items() if name}


def raise_if_inner(store: TenantStore, row: DeploymentRow) -> None:
    """Raise PL-C115 if a Component of another deployment has made this one."""
    outer = outers_of(store, [row.number]).get(row.number)
    if outer is not None:
        message = f"the deployment '{row.name}' belongs to a component of '{outer}'"
        mend = f"uninstall that: phaseline uninstall -d {outer}; or delete only this one: --force"
        raise problem_error("PL-C115", message, mend, subject=row.name)


def _has_inner(store: TenantStore, rows: Sequence[DeploymentRow]) -> bool:
    """Return False if certainly no deployment is a component's: one alone has no outer one."""
    count = store.listings.count
    if len(rows) == 1 and count(row_queries.DeploymentQuery()) == 1:
        return False
    return bool(rows) and count(row_queries.DeploymentQuery(labels=[Label(PARENT_LABEL, "")])) > 0


def briefs(store: TenantStore, rows: Sequence[DeploymentRow]) -> list[DeploymentView]:
    """Return the deployments as rows for a list, without reading their blueprints."""
    summaries = store.listings.summaries([row.number for row in rows])
    reads: ExecutionReads = store
    suspects = [found.executions for found in summaries.values() if _may_leave_behind(found)]
    if suspects:
        ahead = reads = read_ahead.ReadAhead(store)
        unrepaired_failures.read_left_behind(ahead, suspects)
    outers = outers_of(store, [row.number for row in rows]) if _has_inner(store, rows) else {}
    found = [_brief(reads, row, summaries.get(row.number, MISSING)) for row in rows]
    if not outers:
        return found
    return [altered(view, outer=outers.get(row.number, "")) for view, row in zip(found, rows, strict=True)]


def _may_leave_behind(found: DeploymentSummary) -> bool:
    executions = found.executions
    return not found.flaw and len(executions) > 1 and all(row.status.is_ended for row in executions)


def _brief(reads: ExecutionReads, row: DeploymentRow, found: DeploymentSummary) -> DeploymentView:
    flaw = row.flaw or found.flaw
    latest = found.executions[-1] if found.executions else None
    left = unrepaired_failures.left_behind(reads, found.executions) if _may_leave_behind(found) and not flaw else None
    return DeploymentView(
        name=row.name,
        status=UNREADABLE if flaw else found.status,
        blueprint_file=row.blueprint_file,
        description=row.description,
        created_at=row.created_at,
        created_by=row.created_by,
        instance_count=sum(found.states.values()),
        states=dict(found.states),
        latest_execution=latest.id if latest else "",
        latest_status=latest.status.value if latest else "",
        kind=row.kind,
        unfinished="" if left is None else left.id,
        flaw=flaw,
    )
