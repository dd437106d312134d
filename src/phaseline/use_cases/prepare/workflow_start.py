"""Check the request to run a workflow of a deployment. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.dsl.deployment import evaluate_blueprint
from phaseline.dsl.deployment import parameters as deployment_parameters
from phaseline.dsl.functions import evaluation, plan_and_runtime_scopes, topology_view
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import BUILT_IN_MODULE, BUILT_IN_PLUGIN, WorkflowMapping
from phaseline.model.deployment.sealed_values import hidden_inputs, veiled
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.plan.requests import availability, request_validation
from phaseline.plan.workflows.uninstall import RECURSIVE, UNINSTALL
from phaseline.use_cases.loading import plugin_workflows
from phaseline.use_cases.loading.moved_folders import raise_if_folders_missing
from phaseline.use_cases.lookup import owned_deployments
from phaseline.use_cases.lookup.blocking_executions import raise_if_suspended
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.input_suggestions import KnownThings
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.pre_post import with_stops

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.graph.workflow import Parameter, Workflow
    from phaseline.use_cases.prepare.options import ExecutionOptions


ABANDON = "abandon"


@frozen
class WorkflowStart:
    """The request to run a workflow of a deployment with parameters.

    With ``allow_custom``, undeclared parameters are passed to plugins. With ``force``, the workflow runs even if the
    blueprint's availability rules forbid it now; with ``despite_consumers``, even if other deployments read what it touches. ``is_part``: it is a part of a recursive
    uninstall, which has looked for such deployments.
    """

    workflow: str
    deployment: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    allow_custom: bool = False
    force: bool = False
    despite_consumers: bool = False
    is_part: bool = False


@frozen
class Prepared:
    """A fully checked start of a workflow, which is not stored yet.

    ``own`` is the plugin's workflow, or None for a built-in workflow. ``first`` are the deployments for which the same
    workflow must run before.
    """

    deployment: DeploymentRow
    topology: Topology
    states: np.ndarray
    request: Request
    warnings: tuple[Problem, ...]
    own: Workflow | None = None
    first: Sequence[DeploymentRow] = ()


def prepare(ctx: RequestContext, order: WorkflowStart, *, manner: ExecutionOptions = DEFAULT_OPTIONS) -> Prepared:
    """Check the request, and merge and check its parameters (B23).

    Raises: ``ProblemsError`` with PL-C010 (no such deployment), PL-P009 (no such workflow), PL-P010 (not available
    now), PL-P011 (cannot be run here), PL-C024 (its folder is missing), or all problems of the parameters.
    """
    store = ctx.store
    row = find_deployment(store, order.deployment, to_change=True)
    if order.workflow != ABANDON:  # an abandonment calls no operation, so it needs no code
        raise_if_folders_missing(ctx, row)
    topology = store.topology(row.number)
    states = store.states(row.number)
    workflow, own = _find(ctx, row, order.workflow)
    raise_if_suspended(row.name, order.workflow if own is None else workflow.built_in, topology, states)
    if not order.force:
        _raise_if_unavailable(workflow, topology, as_life_cycle(topology, states, store.state_names(row.number)))
    request = manner.request(order.workflow, ctx, _parameters(ctx, row, topology, workflow, own, order), topology)
    request = with_stops(ctx, request, topology, deployment=row.number)
    problems = request_validation.check(topology, request, with_custom=order.allow_custom, workflow=own)
    if problems:
        raise ProblemsError(problems)
    warned = tuple(request_validation.warnings(topology, request, own))
    if (own is not None and workflow.built_in != UNINSTALL) or request.parameters.get(RECURSIVE) is not True:
        return Prepared(row, topology, states, request, warned, own)

    first = owned_deployments.below(ctx, row)
    return Prepared(
        row,
        topology,
        states,
        request,
        (*((owned_deployments.owned_problem(first),) if first else ()), *warned),
        own,
        first,
    )


def declared_parameters(ctx: RequestContext, row: DeploymentRow, workflow: str) -> frozenset[str]:
    """Return the names of the parameters that a workflow of a deployment declares. Raises: PL-P009."""
    mapped, own = _find(ctx, row, workflow)
    return frozenset(mapped.parameters) | frozenset(_known(mapped, own))


def _known(workflow: WorkflowMapping, own: Workflow | None) -> Mapping[str, Parameter]:
    """Return the parameters that the planner of a workflow declares."""
    from phaseline.plan.workflows import built_in

    return (own or built_in(workflow.built_in)).parameters


def _find(ctx: RequestContext, row: DeploymentRow, name: str) -> tuple[WorkflowMapping, Workflow | None]:
    """Return (the workflow as the blueprint declares it, its planner or None if it is built in).

    A built-in workflow need not be declared. Raises: PL-P009 if there is none of this name, and the errors of
    ``find_own``.
    """
    from phaseline.plan.workflows import PLANNERS

    blueprint = ctx.store.blueprint(row.number)
    own = plugin_workflows.find_own(ctx.catalog, blueprint, row.code, name)
    if own is None and name not in PLANNERS:
        raise plugin_workflows.unknown_workflow(name, blueprint)
    mapped = blueprint.workflows.get(name)
    return mapped or WorkflowMapping(name, BUILT_IN_MODULE + name, BUILT_IN_PLUGIN), own


def _raise_if_unavailable(workflow: WorkflowMapping, topology: Topology, states: np.ndarray) -> None:
    why = availability.unavailable(workflow.availability, topology, states)
    if why:
        message = f"the workflow '{workflow.name}' is not available now: {why}"
        raise problem_error("PL-P010", message, "to start it all the same: --force")


def _parameters(
    ctx: RequestContext,
    row: DeploymentRow,
    topology: Topology,
    workflow: WorkflowMapping,
    own: Workflow | None,
    order: WorkflowStart,
) -> dict[str, Value]:
    """Return the defaults overridden by given parameters; functions in defaults are evaluated now.

    A default whose value would contain a secret stays an unevaluated function, because parameters are stored in clear.
    It is evaluated when an operation is called.
    """
    known = _known(workflow, own)
    merged = deployment_parameters.merge_parameters(
        workflow,
        order.parameters,
        more=known,
        allow_custom=order.allow_custom,
        types=topology.blueprint.data_types,
        lookup=KnownThings(lambda: ctx.store, row.name),
    )
    if all(name in order.parameters or value in (None, "", [], {}) for name, value in merged.items()):
        return merged
    documents = ctx.store.documents(row.number)
    scope = plan_and_runtime_scopes.RuntimeScope(
        evaluate_blueprint.PlainInputs(ctx.store.inputs(row.number), hidden_inputs(topology.blueprint)),
        {node.name: node.properties for node in topology.nodes},
        topology_view.TopologyInstances(topology, lambda instance: documents.get(instance, {})),
        facts=topology_view.facts_of(
            row.name, topology.blueprint, row.created_by, row.tenant, evaluate_blueprint.SecretsLater()
        ),
    )
    found = {
        name: value if name in order.parameters else evaluation.evaluate(value, scope) for name, value in merged.items()
    }
    return {name: merged[name] if veiled(value) != value else value for name, value in found.items()}
