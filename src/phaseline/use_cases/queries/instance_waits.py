"""Explain what an instance waits for, since when, and what would let it continue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.details import DetailQuery
from phaseline.plan.explain import wait_reasons
from phaseline.plan.explain.cloudify_sentences import QUEUED
from phaseline.use_cases.lookup.blocking_executions import blocking_execution, still_calling
from phaseline.use_cases.lookup.entries import last_own_graph
from phaseline.use_cases.lookup.find import find_instance_id
from phaseline.use_cases.lookup.known_phases import found_phases
from phaseline.use_cases.lookup.read_ahead import ReadAhead
from phaseline.use_cases.queries.lane_holders import held_up

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import BatchRow, DeploymentRow, ExecutionRow
    from phaseline.plan.explain.wait_reasons import Reason
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import TenantStore


@frozen
class Waiting:
    """Why one instance has not finished its execution.

    ``note``: a sentence with the process that runs the execution, or how to continue it.
    """

    instance: str
    state: str
    deployment: str
    execution: str
    execution_status: str
    reasons: Sequence[Reason]
    note: str
    now_at: int


def why(ctx: RequestContext, id: str, *, deployment: str | None = None) -> Waiting:
    """Explain what the instance waits for in an open execution, otherwise how the latest execution left it.

    Raises: PL-C012 for an unknown instance.
    """
    with ctx.store.at_once():
        return _why(ctx, id, deployment)


def _why(ctx: RequestContext, id: str, deployment: str | None) -> Waiting:
    row, whole = find_instance_id(ctx.store, id, deployment)
    reads = _read(ctx.store, row)
    topology, executions = reads.topology(row.number), reads.executions(row.number)
    number = topology.number_of[whole]
    latest = executions[-1] if executions else None
    reasons: Sequence[Reason] = ()
    for execution in (one for one in executions if not one.status.is_ended):
        latest, reasons = execution, _reasons(reads, execution, topology, number)
        if any(reason.kind != "nothing" for reason in reasons):
            break  # of several open ones, the one in which it waits
    else:
        if latest is not None and latest.status.is_ended:
            reasons = _reasons(reads, latest, topology, number)
    return Waiting(
        instance=whole,
        state=state_name(int(reads.states(row.number)[number]), reads.state_names(row.number)),
        deployment=row.name,
        execution=latest.id if latest else "",
        execution_status=latest.status.value if latest else "",
        reasons=[_of_closed_phase(ctx, reads, topology.blueprint, reason) for reason in reasons],
        note=_note(reads, latest, whole),
        now_at=ctx.clock.now(),
    )


def _read(store: TenantStore, row: DeploymentRow) -> ReadAhead:
    """Read what explains the waits in one deployment: its open executions and its latest one, with all their calls."""
    reads = ReadAhead(store)
    reads.know_deployments([row])
    here = [row.number]
    reads.read(
        DetailQuery(
            executions_of=here,
            topologies_of=here,
            states_of=here,
            rounds_of=here if row.kind == "blueprint" else (),
            with_columns=True,
            open_batches=True,
        )
    )
    executions = reads.executions(row.number)
    shown = [one for one in executions if not one.status.is_ended or one is executions[-1]]
    shown = [one for one in shown if one.request.workflow != REACH_WORKFLOW]
    numbers = [one.number for one in shown]
    reads.read(
        DetailQuery(
            notes_of=[graph.id for one in shown if (graph := last_own_graph(reads, one)) is not None],
            batches_of=reads.ranges_of(numbers),
            events_of=[one.number for one in shown if one.status is ExecutionStatus.QUEUED],
            event_types=(QUEUED,),
        )
    )
    return reads


def _told(execution: ExecutionRow, blocker: ExecutionRow) -> str:
    """Return for what an execution waits: a claim, or a provider that is not there yet (DP11)."""
    if blocker.deployment == execution.deployment:
        return f"{blocker.id}, which has a claim on the same instances"
    return f"{blocker.id} ({blocker.status}), which installs the provider '{blocker.deployment_name}' that it reads"


def _reasons(store: ReadAhead, execution: ExecutionRow, topology: Topology, instance: int) -> Sequence[Reason]:
    """Return why the instance has not finished one execution.

    Return nothing for an execution that brings resources to a target, and for an execution without a graph.
    """
    queued = blocking_execution(store, execution)
    if queued is not None:
        text = f"{execution.id} has not begun: it waits for {_told(execution, queued.blocker)}"
        return (
            wait_reasons.Reason(
                "blocked", text, f"wait until it has ended: phaseline executions follow {queued.blocker.id}"
            ),
        )
    given_up = still_calling(store, execution)
    if given_up is not None:
        text = f"{execution.id} has not begun: calls of {given_up.id} on the same instances were given up and still run"
        way = f"wait until they have returned, or end them: phaseline executions cancel {given_up.id} --kill"
        return (
            wait_reasons.Reason(
                "blocked",
                text,
                f"{way}; or do not wait for them: cancel {execution.id}, and start it again with --if-busy force",
            ),
        )
    last = last_own_graph(store, execution)
    if last is None or execution.request.workflow == REACH_WORKFLOW:
        return ()
    graph = last.id
    running, ended = _times(store.batches(execution=execution.number), graph)
    whole = store.graph(graph)
    reasons = wait_reasons.explain(
        topology,
        whole,
        store.statuses(graph),
        store.notes(graph),
        instance,
        running=running,
        ended=ended,
        execution=execution.id,
    )
    return reasons if execution.status.is_ended else [held_up(store, execution, whole, reason) for reason in reasons]


def _of_closed_phase(ctx: RequestContext, reads: ReadAhead, blueprint: Blueprint, reason: Reason) -> Reason:
    """Return the reason, changed to name an obstacle if its phase is paused or cannot be used.

    An entry of such a phase is ready, but is not called until an operator resumes or repairs the phase.
    """
    if reason.kind != "slot" or not blueprint.on_path:
        return reason
    name = reason.operation
    pause = reads.paused_phases().get(name.lower())
    if pause is not None:
        return altered(
            reason,
            text=f"{name} is ready, and paused ({pause.actor}: {pause.reason})",
            mend=f"phaseline phases unpause {name}",
        )
    registry = found_phases(ctx).registry
    phase = registry.get(name)
    obstacles = registry.obstacles(phase) if phase is not None else ()
    if not obstacles:
        return reason
    return altered(reason, text=f"{name} cannot be used: {'; '.join(obstacles)}", mend=f"phaseline phases show {name}")


def _times(batches: Sequence[BatchRow], graph: int) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Return ({position: start of its running call}, {position: end of its last call}) for one graph."""
    running: dict[int, int] = {}
    ended: dict[int, int] = {}
    for batch in batches:
        member = 0
        for of, positions in batch.segments:
            if of == graph:
                for place, position in enumerate(positions.tolist(), member):
                    is_open = not batch.closed_at and (batch.kinds is None or not batch.kinds[place])
                    if is_open:
                        running[position] = batch.started_at
                    else:
                        ended[position] = batch.closed_at or batch.started_at
            member += len(positions)
    return running, ended


def _note(store: ExecutionReads, execution: ExecutionRow | None, instance: str) -> str:
    if execution is None:
        return "No execution of the deployment has begun."
    if execution.request.workflow == REACH_WORKFLOW:
        return f"It is a resource; see: phaseline resources why {instance} -d {execution.deployment_name}"
    if execution.status.is_ended:
        return f"{execution.id} is {execution.status.value}."
    if execution.status is ExecutionStatus.ATTENTION:
        return f"{execution.id} waits for a person."
    owner = store.owner()
    if owner is None:
        return f"No process runs {execution.id} now; continue it: phaseline executions resume {execution.id}"
    return f"{owner} runs {execution.id}." if owner.pid else f"Another process runs {execution.id}."
