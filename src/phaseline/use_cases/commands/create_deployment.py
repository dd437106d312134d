"""Create a deployment of a blueprint without installing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.commands.orders import given_orders
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.loading.blueprint_loading import deployment_name
from phaseline.use_cases.loading.deployment_rows import new_deployment, raise_if_secrets_missing
from phaseline.use_cases.prepare.deployment_spec import load_order, provider_warnings, use_by
from phaseline.use_cases.queries.deployments import open_execution, show_deployment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.views.views import DeploymentDetails


def _made_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> DeploymentDetails:
    name = str(found.answer["deployment"])
    row = ctx.store.deployment(name)
    if row is None or row.number != found.answer["number"]:
        raise given_orders.gone(found, f"the deployment '{name}'")
    return show_deployment(ctx, name)


@once("create", _made_again)
def create(ctx: RequestContext, order: DeploymentSpec, *, given: NewOrder | None = None) -> DeploymentDetails:
    """Store a deployment with all its instances, uninitialized. No operation is called.

    Raises: ``ProblemsError`` with all problems of blueprint and inputs, PL-S010 if the name is taken.
    """
    name = deployment_name(order.file, order.name)
    loaded = load_order(ctx, order)
    existing = ctx.store.deployment(name)
    if existing is not None:
        found = open_execution(ctx.store, existing)
        old = f"delete the records of that deployment: phaseline deployments delete {name}"
        mend = f"choose another name with -d, or {f'wait: phaseline executions follow {found.id}' if found else old}"
        used = f", {use_by(found)}" if found else ""
        raise problem_error("PL-S010", f"there is a deployment '{name}' already{used}", mend, subject=name)
    for warning in loaded.warnings:
        ctx.notice(f"warning {warning}; {warning.mend}")
    raise_if_secrets_missing(ctx, loaded.blueprint)
    for warning in provider_warnings(ctx, name, loaded.blueprint, allow_missing=order.allow_missing_providers):
        ctx.notice(f"warning {warning}; {warning.mend}")
    new = new_deployment(ctx, name, loaded, ctx.clock.now(), order.site)
    with ctx.store.as_one(given) as answer:
        answer["deployment"] = name
        answer["number"], _ = ctx.store.create_deployment(new)
    return show_deployment(ctx, name)
