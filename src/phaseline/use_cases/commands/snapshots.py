"""Snapshots of deployments: create, list and delete them, and restore a deployment to one.

The steps of ``restore -d shop monday``: the document of the snapshot has the blueprint, inputs and counts. They become
the ``Aim`` of a plan, as for any update. The execution ``restore`` carries the plan out, and then applies the data that
the operations saved when the snapshot was created.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from phaseline.dsl.documents import json_codec
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.deployment.stack_documents import MOST_SNAPSHOTS, SNAPSHOT
from phaseline.model.execution.stored_plans import Aim
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
from phaseline.model.problems.problem import problem_error
from phaseline.plan.topology import adoption, blueprint_diff, stack_document
from phaseline.plan.workflows import snapshot_restore
from phaseline.use_cases.commands import adopt
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.commands.update import planned_update, submit_update
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.secret_reveal import opened_inputs
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.update_preparation import PreparedUpdate, brought_to, present_of
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.stack_documents import DocumentRow
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.commands.submission import Submission
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.plan_preview import PlanPreview

NAME = "snapshot_name"
"""Name of the workflow parameter that holds the name of a snapshot."""


@frozen
class SnapshotView:
    """A snapshot as users see it; ``at`` in ms."""

    name: str
    deployment: str
    at: int
    created_by: str
    size_bytes: int


@once("create_snapshot")
def create_snapshot(
    ctx: RequestContext,
    deployment: str,
    name: str | None = None,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Call the save operations of all instances that have such operations, then export the deployment.

    ``name`` None: use the present time as the name. Raises: PL-C010, PL-C088, PL-C089, and the errors of
    ``start_workflow.start``.
    """
    row = find_deployment(ctx.store, deployment, to_change=True)
    if name and (why := why_no_name(name)):
        raise problem_error("PL-C096", f"'{shown_name(name)}' cannot be the name of a snapshot: it {why}", MEND)
    name = name or f"{datetime.fromtimestamp(ctx.clock.now() / 1000, UTC):%Y%m%d-%H%M%S}"
    raise_if_full_or_taken(ctx, row, name)
    order = WorkflowStart("snapshot", deployment, {NAME: name})
    return start(ctx, order, manner=manner, given=given)


def raise_if_full_or_taken(ctx: RequestContext, row: DeploymentRow, name: str) -> None:
    """Raise PL-C088 if the deployment has as many snapshots as allowed, PL-C089 if one has this name."""
    known = ctx.store.stack_documents.all(SNAPSHOT, row.number)
    if any(one.name == name for one in known):
        mend = f"give another name, or delete that one: phaseline snapshots delete -d {row.name} {name}"
        raise problem_error("PL-C089", f"'{row.name}' has a snapshot '{name}' already", mend)
    if len(known) >= MOST_SNAPSHOTS:
        mend = f"delete one that is not needed: phaseline snapshots delete -d {row.name} NAME"
        raise problem_error("PL-C088", f"'{row.name}' has {len(known)} snapshots, and more are not kept", mend)


def list_snapshots(ctx: RequestContext, deployment: str | None = None) -> Sequence[SnapshotView]:
    """Return the snapshots of a deployment, or of all, oldest first."""
    number = find_deployment(ctx.store, deployment).number if deployment else None
    found = ctx.store.stack_documents.all(SNAPSHOT, number)
    return [SnapshotView(row.name, row.deployment_name, row.at, row.created_by, row.size_bytes) for row in found]


def show_snapshot(ctx: RequestContext, deployment: str, name: str) -> Mapping[str, Value]:
    """Return the document of a snapshot. Raises: PL-C010, PL-C087."""
    row = find_deployment(ctx.store, deployment)
    return ctx.store.stack_documents.body(_find(ctx, row, name))


@once("delete_snapshot")
def delete_snapshot(
    ctx: RequestContext,
    deployment: str,
    name: str,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Delete a snapshot: first the data that operations saved, then the document.

    Raises: PL-C010, PL-C087, and the errors of ``start_workflow.start``.
    """
    _find(ctx, find_deployment(ctx.store, deployment, to_change=True), name)
    order = WorkflowStart("delete_snapshot", deployment, {NAME: name})
    return start(ctx, order, manner=manner, given=given)


@once("restore")
def restore(
    ctx: RequestContext,
    deployment: str,
    name: str,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Restore a deployment to a snapshot. The plan is stored. Raises: the errors of ``prepare_restore``, PL-C016."""
    found = prepare_restore(ctx, deployment, name, manner=manner)
    return submit_update(ctx, found, given=given)


def plan_restore(
    ctx: RequestContext, deployment: str, name: str, *, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> PlanPreview:
    """Return the plan that a restore would have now, without storing it."""
    return planned_update(ctx, prepare_restore(ctx, deployment, name, manner=manner), asks_hooks=True)


def prepare_restore(
    ctx: RequestContext, deployment: str, name: str, *, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> PreparedUpdate:
    """Prepare the update that restores a deployment to a snapshot.

    Raises: PL-C010, PL-C024, PL-C043, PL-C080, PL-C087, PL-P043, and problems of the revision.
    """
    row = find_deployment(ctx.store, deployment, to_change=True)
    aim, was_up = _aim(ctx.store.stack_documents.body(_find(ctx, row, name)))
    now = present_of(ctx, deployment, snapshot_restore.RESTORE, {NAME: name, "was_up": was_up}, manner)
    former = opened_inputs(ctx, row.number)
    coming = {name: ctx.vault.unsealed(value) for name, value in aim.inputs.items()}
    values, changed = blueprint_diff.values_of_inputs(
        former, coming, frozenset(_hidden(now.topology.blueprint, aim.blueprint))
    )
    return brought_to(ctx, now, altered(aim, changed_inputs=tuple(sorted(changed))), values)


def _aim(document: Mapping[str, Any]) -> tuple[Aim, list[Value]]:
    """Return (the snapshot as the ``Aim`` of an update, ids of the instances that existed when it was created)."""
    native = document[stack_document.NATIVE]
    up: list[Value] = [row["id"] for row in native["instances"] if row["state"] not in adoption.NOT_THERE]
    aim = Aim(
        json_codec.blueprint_from_json(document["template"]),
        document["environment"]["parameters"],
        adopt.code_of(document),
        suffixes=int.from_bytes(os.urandom(8)) >> 1,
        counts=native["counts"],
    )
    return aim, up


def _hidden(*blueprints: Any) -> set[str]:
    return {name for blueprint in blueprints for name in hidden_inputs(blueprint)}


def _find(ctx: RequestContext, row: DeploymentRow, name: str) -> DocumentRow:
    known = {one.name: one for one in ctx.store.stack_documents.all(SNAPSHOT, row.number)}
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    there = f"there are: {', '.join(known)}" if known else f"make one: phaseline snapshots create -d {row.name}"
    mend = f"{hint} {there}".strip()
    raise problem_error("PL-C087", f"'{row.name}' has no snapshot '{name}'", mend)
