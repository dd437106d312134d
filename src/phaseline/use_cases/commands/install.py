"""Install a blueprint, and uninstall a deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.use_cases.commands import start_workflow
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission
from phaseline.use_cases.loading import deployment_rows
from phaseline.use_cases.lookup.blocking_executions import compatible_executions
from phaseline.use_cases.prepare import workflow_start
from phaseline.use_cases.prepare.install_preparation import prepare_install, prepare_uninstall
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS, ExecutionOptions

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.orders import NewOrder
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.install_preparation import PreparedInstall, PreparedUninstall


@once("install")
def install(
    ctx: RequestContext,
    order: DeploymentSpec,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Create a deployment of a blueprint and install it.

    Raises: ``ProblemsError`` with all problems; then nothing was stored.
    """
    return submit_install(ctx, prepare_install(ctx, order, manner=manner), given)


def submit_install(ctx: RequestContext, prepared: PreparedInstall, given: NewOrder | None = None) -> Submission:
    """Store the deployment with its execution, in one transaction."""
    loaded, _, replaces = prepared.chosen
    new = deployment_rows.new_deployment(ctx, prepared.name, loaded, prepared.execution.created_at, prepared.site)
    with ctx.store.as_one(given):
        _, row = ctx.store.create_deployment(new, prepared.execution, replaces=replaces, asks=True)
    assert row is not None, "an execution was asked for"
    return Submission(row, warnings=prepared.warnings)


@once("uninstall")
def uninstall(
    ctx: RequestContext,
    name: str,
    *,
    ignore_failure: bool = False,
    recursive: bool = False,
    force: bool = False,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Stop and delete every instance of a deployment; the record of the deployment stays (W23).

    ``recursive``: first uninstall the deployments whose label ``csys-obj-parent`` names it (W24). ``force``: uninstall it
    although other deployments read it. Raises: PL-C010 if there is no such deployment, PL-C016 while an execution of it
    is open, PL-C024 if its folder is missing, PL-C131 while other deployments read it.
    """
    if recursive:
        order = workflow_start.WorkflowStart(
            "uninstall",
            name,
            {"recursive": True, "ignore_failure": ignore_failure},
            force=True,
            despite_consumers=force,
        )
        return start_workflow.start(ctx, order, manner=manner, given=given)
    prepared = prepare_uninstall(ctx, name, ignore_failure=ignore_failure, force=force, manner=manner)
    return submit_uninstall(ctx, prepared, given)


def submit_uninstall(ctx: RequestContext, prepared: PreparedUninstall, given: NewOrder | None = None) -> Submission:
    """Store the execution of a prepared uninstall.

    Raises: PL-C016 if another execution with the same instances was stored meanwhile.
    """
    _, topology, request = prepared.chosen
    with ctx.store.as_one(given):
        row = ctx.store.create_execution(prepared.execution, asks=True, beside=compatible_executions(topology, request))
    return Submission(row, warnings=prepared.warnings)
