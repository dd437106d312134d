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
from phaseline.model.health.checks import ILL, CheckKind, CheckResult
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.model.resources.resources import REMOVED
from phaseline.model.rows import row_queries
from phaseline.model.rows.deployment_summaries import GONE, DeploymentStatuses, DeploymentSummary, Families, own_status
from phaseline.use_cases.lookup import read_ahead
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.label_syntax import by_key, parse_labels
from phaseline.use_cases.lookup.secret_reveal import opened_documents, opened_inputs, without_secrets
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries import unrepaired_failures
from phaseline.use_cases.queries.estate import filtered_deployments
from phaseline.views.views import DeploymentDetails, DeploymentView, Outputs, Page

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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
    where: str = "",
    rules: Sequence[str] = (),
    site: str = "",
    limit: int | None = None,
) -> Page[DeploymentView]:
    """Return deployments sorted by name, with the number of instances in each state and the latest execution.

    ``status``: only deployments with this status, as in ``DeploymentView.status``. ``text``: part of the name, of the
    description or of the blueprint's path. ``labels``: only deployments with all these labels, each ``KEY=VALUE`` or
    ``KEY``. ``where``: an expression over the row, or ``@NAME`` for a saved filter. ``rules``: rules that must all hold.
    ``site``: only deployments at this site. Raises: PL-C068 for an invalid label, PL-C150 to PL-C155 and those of
    expressions for a filter.
    """
    wanted = row_queries.DeploymentQuery(
        status="" if status in {None, UNREADABLE} else status, labels=parse_labels(labels), text=text, limit=limit
    )
    with ctx.store.at_once():
        paged = altered(wanted, limit=None) if status == UNREADABLE else wanted
        if where or rules or site:
            rows, total, seen = filtered_deployments.filtered_rows(ctx, paged, where, rules, site, listed=listed)
        else:
            (rows, total), seen = ctx.store.listings.page(paged), None
        views = listed(ctx.store, rows) if seen is None else seen
        if status == UNREADABLE:
            found = [view for view in views if view.status == status]
            return Page(found[:limit], len(found))
        return Page(views, total)


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
    seen, uses = listed(store, [row])[0], store.stored_blueprints.of_deployment(row.number)
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


def listed(store: TenantStore, rows: Sequence[DeploymentRow]) -> list[DeploymentView]:
    """Return the deployments as rows for a list, with the statuses of what belongs to them and their checks (LB10)."""
    facts = store.listings.facts([row.number for row in rows])
    families = Families(facts.kin)
    (summaries, statuses), counts = _statuses_of(store, rows, families), _check_counts(store, facts.checked)
    views = []
    for row, view in zip(rows, briefs(store, rows, summaries), strict=True):
        drifted, unavailable = counts.get(row.number, (0, 0))
        own = statuses[row.number]
        views.append(
            altered(
                view,
                **{item.name: getattr(own, item.name) for item in fields(own)},
                site_name=facts.sites.get(row.number, ""),
                parents=families.known[row.name].parents if row.name in families.known else (),
                drifted_instances=drifted,
                unavailable_instances=unavailable,
            )
        )
    return views


def _statuses_of(
    store: TenantStore, rows: Sequence[DeploymentRow], families: Families
) -> tuple[Mapping[int, DeploymentSummary], Mapping[int, DeploymentStatuses]]:
    """Return the summaries and the statuses of these deployments, by number: one reading of all summaries needed."""
    below = {name for row in rows for name in families.below(row.name)} if families.children else set()
    numbers = {families.known[name].number for name in below} | {row.number for row in rows}
    summaries = store.listings.summaries(sorted(numbers))
    own = {
        one.name: own_status(one.kind, summaries[one.number])
        for one in (families.known[name] for name in below)
        if one.number in summaries
    }
    found = {row.number: summaries.get(row.number, MISSING) for row in rows}
    statuses = {row.number: families.statuses(row.name, row.kind, found[row.number], own) for row in rows}
    return found, statuses


def _check_counts(store: TenantStore, checked: Collection[int]) -> Mapping[int, tuple[int, int]]:
    """Return {deployment: (number of its instances that have drifted, of those that are not healthy)}.

    ``checked``: the deployments with results of checks. Instances that are removed do not count.
    """
    if not checked:
        return {}
    found = {}
    for number, roster in store.listings.rosters(sorted(checked)).items():
        size = len(roster.states)
        drift = roster.checks.column(CheckKind.DRIFT, size)[roster.is_there]
        status = roster.checks.column(CheckKind.STATUS, size)[roster.is_there]
        ill = sum(int((status == result).sum()) for result in ILL)
        found[number] = int((drift == CheckResult.DRIFTED).sum()), ill
    return found


def briefs(
    store: TenantStore, rows: Sequence[DeploymentRow], summaries: Mapping[int, DeploymentSummary] | None = None
) -> list[DeploymentView]:
    """Return the deployments as rows for a list, without reading their blueprints. ``summaries``: if they are known."""
    if summaries is None:
        summaries = store.listings.summaries([row.number for row in rows])
    reads: ExecutionReads = store
    suspects = [found.executions for found in summaries.values() if _may_leave_behind(found)]
    if suspects:
        ahead = reads = read_ahead.ReadAhead(store)
        unrepaired_failures.read_left_behind(ahead, suspects)
    return [_brief(reads, row, summaries.get(row.number, MISSING)) for row in rows]


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
