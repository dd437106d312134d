"""How an execution is to be run, as programs say it: words of the commands made into the values of the use cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import IfBusy
    from phaseline.use_cases.prepare.deployment_spec import Order
    from phaseline.use_cases.prepare.options import Manner, OnFailure
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder


def order_of(
    file: str,
    name: str | None,
    inputs: Mapping[str, Value] | None,
    plugins: Sequence[str],
    labels: Sequence[str] = (),
    *,
    yes_many: bool = False,
    runtime_only: bool = False,
) -> Order:
    """What is to be installed."""
    from phaseline.use_cases.prepare.deployment_spec import Order

    return Order(file, name, inputs or {}, tuple(plugins), yes_many, runtime_only, tuple(labels))


def update_of(
    deployment: str,
    file: str,
    inputs: Mapping[str, Value] | None,
    plugins: Sequence[str] | None,
    parameters: Mapping[str, Value] | None,
    *,
    runtime_only: bool,
    workflow_id: str | None,
    reinstall: Sequence[str],
    **switches: bool,
) -> UpdateOrder:
    """What a deployment is brought to; ``switches`` become parameters of the workflow, over those that are given so."""
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder

    said: dict[str, Value] = dict(parameters or {})
    said |= {name: True for name, is_set in switches.items() if is_set}
    if workflow_id is not None:
        said["workflow_id"] = workflow_id
    if reinstall:
        said["reinstall_list"] = list(reinstall)
    return UpdateOrder(deployment, file, inputs or {}, plugins, said, runtime_only)


def stops_of(breakpoints: Sequence[str], break_timeout: str | None = None) -> tuple[Breakpoint, ...]:
    """Where instances stop, and how long. Raises: PL-C094 for a time without a breakpoint, PL-P047 for one that is none."""
    from phaseline.lang.durations import read_span
    from phaseline.model.problems.problem import fail
    from phaseline.use_cases.prepare.breakpoints import read

    if break_timeout is not None and not breakpoints:
        message = "break_timeout says how long something waits at breakpoints, and there are none"
        raise fail("PL-C094", message, "Name where it stops: breakpoints=['pre-create=web']")
    wait_s = None if break_timeout is None else read_span(break_timeout)
    return tuple(read(text, wait_s) for text in breakpoints)


def manner_of(
    task_retries: int | None = None,
    on_failure: OnFailure = "continue",
    stop_after: str | None = None,
    if_busy: IfBusy = "wait",
    timeout: str | None = None,
    subgraph_retries: int | None = None,
    breakpoints: Sequence[str] = (),
    break_timeout: str | None = None,
) -> Manner:
    """How it deals with failures, time, others that are at work, and where it stops."""
    from phaseline.lang.durations import read_span
    from phaseline.use_cases.prepare.options import Manner, read_limit

    return Manner(
        task_retries,
        on_failure,
        None if stop_after is None else read_limit(stop_after),
        if_busy,
        None if timeout is None else read_span(timeout),
        subgraph_retries,
        stops_of(breakpoints, break_timeout),
    )
