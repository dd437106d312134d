"""Convert the options of executions, as Python programs pass them, into arguments of the use cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.client.option_types import FollowOptionsDict, RunOptionsDict, StopOptionsDict, UpdateOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.use_cases.commands.adopt import AdoptOrder
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart


SWITCHES = (
    "allow_replace",
    "skip_uninstall",
    "skip_install",
    "skip_drift_check",
    "skip_heal",
    "skip_reinstall",
    "force_reinstall",
    "ignore_failure",
    "auto_correct_types",
)
"""Options of an update that become parameters of the workflow ``update``."""


def order_of(
    file: str,
    name: str | None,
    inputs: Mapping[str, Value] | None,
    plugins: Sequence[str],
    labels: Sequence[str] = (),
    *,
    yes_many: bool = False,
    runtime_only: bool = False,
    allow_missing_providers: bool = False,
    site: str | None = None,
    environment: str | None = None,
) -> DeploymentSpec:
    """Return the specification of a deployment to create."""
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

    given = inputs or {}, tuple(plugins), yes_many, runtime_only, tuple(labels)
    return DeploymentSpec(file, name, *given, allow_missing_providers, site or "", environment or "")


def start_of(
    workflow: str,
    deployment: str,
    parameters: Mapping[str, Value] | None = None,
    *,
    allow_custom_parameters: bool = False,
    force: bool = False,
) -> WorkflowStart:
    """Return the specification of a workflow to start."""
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart

    return WorkflowStart(workflow, deployment, parameters or {}, allow_custom_parameters, force, force)


def update_of(deployment: str, file: str, options: UpdateOptionsDict) -> UpdateOrder:
    """Return the specification of an update.

    Options such as ``skip_heal`` become parameters of the workflow, where they override equal names in ``parameters``.
    """
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder

    said: dict[str, Value] = dict(options.get("parameters") or {})
    said |= {name: True for name in SWITCHES if options.get(name)}
    if (workflow_id := options.get("workflow_id")) is not None:
        said["workflow_id"] = workflow_id
    if reinstall := options.get("reinstall"):
        said["reinstall_list"] = list(reinstall)
    inputs, plugins = options.get("inputs") or {}, options.get("plugins")
    is_late, may_miss = options.get("runtime_only_evaluation", False), options.get("allow_missing_providers", False)
    force = options.get("force", False)
    return UpdateOrder(deployment, file, inputs, plugins, said, is_late, may_miss, force)


def stops_of(options: StopOptionsDict) -> tuple[Breakpoint, ...]:
    """Return the breakpoints in the options, each with the time limit ``break_timeout``.

    Raises: PL-C094 for a time limit without a breakpoint, PL-P047 for an invalid breakpoint.
    """
    breakpoints, break_timeout = options.get("breakpoints", ()), options.get("break_timeout")
    if not breakpoints:
        if break_timeout is None:
            return ()
        from phaseline.model.problems.problem import problem_error

        message = "break_timeout is given without breakpoints"
        raise problem_error("PL-C094", message, "add a breakpoint: breakpoints=['pre-create=web']")
    from phaseline.use_cases.prepare.breakpoints import read

    wait_s = seconds(break_timeout)
    return tuple(read(text, wait_s) for text in breakpoints)


def manner_of(options: RunOptionsDict | StopOptionsDict) -> ExecutionOptions:
    """Return the options about failures, time limits, other executions and breakpoints, in the form for use cases."""
    from phaseline.model.execution.execution import read_limit
    from phaseline.use_cases.prepare.options import ExecutionOptions

    said: RunOptionsDict = {**options}
    stop_after, timeout = said.get("stop_after"), said.get("timeout")
    return ExecutionOptions(
        said.get("task_retries"),
        said.get("on_failure", "continue"),
        None if stop_after is None else read_limit(stop_after),
        said.get("if_busy", "wait"),
        seconds(timeout),
        said.get("subgraph_retries"),
        stops_of(said),
    )


def seconds(span: str | None) -> float | None:
    """Return a span such as ``10m`` in seconds. Raises: ``ValueError``."""
    if span is None:
        return None
    from phaseline.lang.durations import read_span

    return read_span(span)


def following(options: FollowOptionsDict) -> FollowOptionsDict:
    """Return only those options that decide how long the caller waits."""
    return {"watcher": options.get("watcher"), "detach": options.get("detach", False)}


def adoption_of(
    document: str,
    deployment: str | None,
    blueprint: str | None,
    inputs: Mapping[str, Value] | None,
    plugins: Sequence[str] | None,
    *,
    allow_type_change: bool,
    check: bool,
) -> AdoptOrder:
    """Return the specification of an adoption, which makes a deployment from a document."""
    from phaseline.use_cases.commands.adopt import AdoptOrder

    return AdoptOrder(document, deployment, blueprint, inputs or {}, plugins, allow_type_change, check)
