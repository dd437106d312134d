"""Options of executions as programs pass them, and their translation into the values of the use cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import IfBusy
    from phaseline.use_cases.commands.adopt import AdoptOrder
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.options import ExecutionOptions, OnFailure
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart


class FollowOptionsDict(TypedDict, total=False):
    """How long the caller waits.

    ``watcher``: receives the progress. ``detach``: return as soon as an engine has started the execution.
    """

    watcher: Watcher | None
    detach: bool


class StopOptionsDict(TypedDict, total=False):
    """Where instances stop.

    ``breakpoints``: points at which instances stop until they are cleared, such as ``pre-create=app_*``.
    ``break_timeout``: a span such as ``10m`` after which an instance that is still stopped fails.
    """

    breakpoints: Sequence[str]
    break_timeout: str | None


class RunOptionsDict(StopOptionsDict, total=False):
    """How an execution reacts to failures, time limits and other executions.

    ``task_retries``: retries of a failed call; None: the value of the settings; -1: without limit. ``on_failure``: ``continue``, ``stop``
    or ``rollback``. ``stop_after``: ``3``, ``10%`` or ``30s``, the failures after which nothing new begins. ``if_busy``: ``wait`` for
    executions that have a claim on the same instances, ``refuse`` or ``force``. ``timeout``: ``90s``, ``10m`` or ``2h``; a longer
    execution is canceled. ``subgraph_retries``: repetitions of a failed life cycle. ``breakpoints``: points at which instances stop until
    they are cleared, such as ``pre-create=app_*``. ``break_timeout``: a span such as ``10m`` after which an instance that is still
    stopped fails.
    """

    task_retries: int | None
    on_failure: OnFailure
    stop_after: str | None
    if_busy: IfBusy
    timeout: str | None
    subgraph_retries: int | None


class ExecutionOptionsDict(RunOptionsDict, FollowOptionsDict, total=False):
    """How an execution is run.

    ``task_retries``: retries of a failed call; None: the value of the settings; -1: without limit. ``on_failure``: ``continue``, ``stop``
    or ``rollback``. ``stop_after``: ``3``, ``10%`` or ``30s``, the failures after which nothing new begins. ``if_busy``: ``wait`` for
    executions that have a claim on the same instances, ``refuse`` or ``force``. ``timeout``: ``90s``, ``10m`` or ``2h``; a longer
    execution is canceled. ``subgraph_retries``: repetitions of a failed life cycle. ``breakpoints``: points at which instances stop until
    they are cleared, such as ``pre-create=app_*``. ``break_timeout``: a span such as ``10m`` after which an instance that is still
    stopped fails. ``watcher``: receives the progress. ``detach``: return as soon as an engine has started the execution.
    """


class UpdateOptionsDict(TypedDict, total=False):
    """What an update does.

    ``inputs``: new values; all other inputs stay. ``plugins``: folders of plugins; None: those of the deployment. ``parameters``: any of
    the workflow ``update``. The other options are those of ``phaseline deployments update``.
    """

    inputs: Mapping[str, Value] | None
    plugins: Sequence[str] | None
    parameters: Mapping[str, Value] | None
    runtime_only_evaluation: bool
    workflow_id: str | None
    reinstall: Sequence[str]
    allow_replace: bool
    skip_uninstall: bool
    skip_install: bool
    skip_drift_check: bool
    skip_heal: bool
    skip_reinstall: bool
    force_reinstall: bool
    ignore_failure: bool
    auto_correct_types: bool


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
"""Options of an update that are parameters of its workflow."""


class UpdateAndRunOptionsDict(UpdateOptionsDict, RunOptionsDict, total=False):
    """What an update does (``inputs`` … ``auto_correct_types``), and how it is run (``task_retries`` … ``break_timeout``)."""


class UpdateExecutionOptionsDict(UpdateOptionsDict, ExecutionOptionsDict, total=False):
    """What an update does (``inputs`` … ``auto_correct_types``), and how it is run (``task_retries`` … ``detach``).

    ``inputs``: new values; all other inputs stay. ``plugins``: folders of plugins; None: those of the deployment. ``parameters``: any of
    the workflow ``update``. The other options are those of ``phaseline deployments update`` and ``executions.install``.
    """


def order_of(
    file: str,
    name: str | None,
    inputs: Mapping[str, Value] | None,
    plugins: Sequence[str],
    labels: Sequence[str] = (),
    *,
    yes_many: bool = False,
    runtime_only: bool = False,
) -> DeploymentSpec:
    """The specification of a deployment to install."""
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

    return DeploymentSpec(file, name, inputs or {}, tuple(plugins), yes_many, runtime_only, tuple(labels))


def start_of(
    workflow: str,
    deployment: str,
    parameters: Mapping[str, Value] | None = None,
    *,
    allow_custom_parameters: bool = False,
    force: bool = False,
) -> WorkflowStart:
    """The specification of a workflow to start."""
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart

    return WorkflowStart(workflow, deployment, parameters or {}, allow_custom_parameters, force)


def update_of(deployment: str, file: str, options: UpdateOptionsDict) -> UpdateOrder:
    """The specification of an update; switches become parameters of the workflow and override equal ``parameters``."""
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder

    said: dict[str, Value] = dict(options.get("parameters") or {})
    said |= {name: True for name in SWITCHES if options.get(name)}
    if (workflow_id := options.get("workflow_id")) is not None:
        said["workflow_id"] = workflow_id
    if reinstall := options.get("reinstall"):
        said["reinstall_list"] = list(reinstall)
    inputs, plugins = options.get("inputs") or {}, options.get("plugins")
    return UpdateOrder(deployment, file, inputs, plugins, said, options.get("runtime_only_evaluation", False))


def stops_of(options: StopOptionsDict) -> tuple[Breakpoint, ...]:
    """The breakpoints and their time limit. Raises: PL-C094 for a limit without a breakpoint, PL-P047 for an invalid breakpoint."""
    breakpoints, break_timeout = options.get("breakpoints", ()), options.get("break_timeout")
    if not breakpoints:
        if break_timeout is None:
            return ()
        from phaseline.model.problems.problem import problem_error

        message = "break_timeout is given without breakpoints"
        raise problem_error("PL-C094", message, "Add a breakpoint: breakpoints=['pre-create=web']")
    from phaseline.use_cases.prepare.breakpoints import read

    wait_s = seconds(break_timeout)
    return tuple(read(text, wait_s) for text in breakpoints)


def manner_of(options: RunOptionsDict | StopOptionsDict) -> ExecutionOptions:
    """The options for failures, time limits, other executions and breakpoints, as the use cases take them."""
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
    """A span such as ``10m`` in seconds. Raises: ``ValueError``."""
    if span is None:
        return None
    from phaseline.lang.durations import read_span

    return read_span(span)


def following(options: FollowOptionsDict) -> FollowOptionsDict:
    """Those options that decide how long the caller waits."""
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
    """The specification of an adoption: the document that becomes a deployment."""
    from phaseline.use_cases.commands.adopt import AdoptOrder

    return AdoptOrder(document, deployment, blueprint, inputs or {}, plugins, allow_type_change, check)
