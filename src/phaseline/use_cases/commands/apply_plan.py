"""Stored plans: list and show them, and apply one if its deployment is unchanged.

A plan stores the state of its deployment as ``base``: digests of its blueprint and inputs, its instances and their
states. If one of these has changed, applying the plan is refused with a list of the changes. So an applied plan does
exactly what was shown.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from phaseline.dsl.documents import json_codec
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.stored_plans import PLAN, PREFIX, Aim, StoredPlan
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.details import DetailQuery
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.plan.requests import request_validation
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission
from phaseline.use_cases.loading.moved_folders import raise_if_folders_missing
from phaseline.use_cases.lookup import package_types
from phaseline.use_cases.lookup.blocking_executions import compatible_executions, raise_if_busy
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.read_ahead import ReadAhead
from phaseline.use_cases.prepare.pre_post import new_execution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.listings import Roster
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow

SHOWN = 5
"""Number of changed instances that a refusal names; further ones are only counted."""


@frozen
class PlanView:
    """A stored plan as users see it. Times in ms.

    ``status``: waiting, moved (the deployment has changed since) or applied. ``execution``: the id of the execution
    that carries the plan out, or "". ``moved``: the changes of the deployment since the plan was created.
    """

    id: str
    deployment: str
    workflow: str
    status: str
    created_at: int
    created_by: str
    execution: str
    moved: tuple[str, ...] = ()


@frozen
class PlanDetails:
    """One stored plan in full. ``text``: the plan as text; ``plan``: the plan as a JSON value."""

    view: PlanView
    text: str
    plan: Mapping[str, Value]


def list_plans(ctx: RequestContext, deployment: str | None = None) -> Sequence[PlanView]:
    """Return all stored plans, or those of one deployment, latest first."""
    number = find_deployment(ctx.store, deployment).number if deployment else None
    plans = ctx.store.stored_plans.all(number)
    present = _Present(ctx, plans)
    return [_view(row, present) for row in reversed(plans)]


def show_plan(ctx: RequestContext, id: str) -> PlanDetails:
    """Return one stored plan. ``id``: the id of the plan or of the execution that carries it out. Raises: PL-C070."""
    found = find_plan(ctx, id)
    return PlanDetails(_view(found, _Present(ctx, [found])), found.text, found.body)


def delete_plan(ctx: RequestContext, id: str) -> PlanView:
    """Delete a plan that was not applied. Raises: PL-C070, PL-C071."""
    found = find_plan(ctx, id)
    view = _view(found, _Present(ctx, [found]))
    if not ctx.store.stored_plans.delete(found.number):
        raise _applied(view)
    return view


@once("apply_plan")
def apply_plan(ctx: RequestContext, id: str, *, given: NewOrder | None = None) -> Submission:
    """Apply a stored plan.

    Raises: PL-C070 (no such plan), PL-C071 (it was applied already), PL-C072 with all changes of the deployment since
    the plan was created, PL-C016 while an execution is open that claims the same instances, PL-C010, PL-C024, PL-P041.
    """
    store = ctx.store
    found = find_plan(ctx, id)
    view = _view(found, _Present(ctx, [found]))
    if found.execution:
        raise _applied(view)
    row = find_deployment(store, view.deployment, to_change=True)
    raise_if_folders_missing(ctx, row)
    topology = store.topology(row.number)
    request = altered(found.request, if_busy="refuse")
    if found.aim is not None:
        request = altered(request, parameters={**request.parameters, PLAN: found.number})
        _raise_if_replaced(topology, found.aim, request)
    problems = request_validation.check(topology, request, with_custom=True)
    if problems:
        raise ProblemsError(problems)
    raise_if_busy(store, row, topology, request)
    imported = found.aim.packages if found.aim is not None else ()
    if imported:
        view = altered(view, moved=(*view.moved, *package_types.moved_imports(ctx, imported)))
    if view.moved:
        _raise_moved(view)
    if imported:
        package_types.bring_imports(ctx, row.number, imported)
    new, warnings = new_execution(ctx, row.number, request)
    with store.as_one(given):
        created = store.create_execution(new, asks=True, beside=compatible_executions(topology, request))
        if not store.stored_plans.apply(found.number, created.number):
            raise _applied(view)
    return Submission(created, warnings=warnings)


def find_plan(ctx: RequestContext, id: str) -> StoredPlan:
    """Return the plan with this id, or the plan that the execution with this id carries out. Raises: PL-C070."""
    shelf, number = ctx.store.stored_plans, id.removeprefix(PREFIX)
    found = shelf.find(int(number)) if id.startswith(PREFIX) and number.isdecimal() else None
    if found is None:
        row = ctx.store.execution(id)
        found = shelf.of_execution(row.number) if row is not None else None
    if found is None:
        known = [row.id for row in shelf.all()][-SHOWN:]
        mend = f"there are: {', '.join(known)}" if known else "keep one: phaseline plan WORKFLOW -d NAME --save"
        raise problem_error("PL-C070", f"there is no plan '{id}'", mend)
    return found


def plan_of(ctx: RequestContext, row: ExecutionRow) -> str:
    """Return the id of the stored plan that an execution carries out, or "" if there is none."""
    found = ctx.store.stored_plans.of_execution(row.number)
    return "" if found is None else found.id


# -- the former deployment -------------------------------------------------------------------------------------------


def base_of(ctx: RequestContext, row: DeploymentRow) -> dict[str, Value]:
    """Return {part of a deployment's present state, such as inputs: its digest, number or packed value}.

    It is stored with a plan, or compared with the one stored there, to find what has changed since.
    """
    return _base(ReadAhead(ctx.store), ctx.store.listings.rosters([row.number])[row.number], row.number)


def _base(reads: ReadAhead, roster: Roster, deployment: int) -> dict[str, Value]:
    topology = reads.topology(deployment)
    states = bytes(np.array(roster.states, np.uint8)[: len(topology)])
    return {
        "version": roster.version,
        "blueprint": _digest(_blueprint_text(topology)),
        "inputs": _digest(json.dumps(dict(reads.inputs(deployment)), sort_keys=True)),
        "instances": len(topology),
        "there": int(topology.is_there.sum()),
        "shape": _digest("\0".join(topology.ids) + repr(topology.gone.nonzero()[0].tolist())),
        "states": base64.b64encode(zlib.compress(states)).decode(),
    }


def moved(row: DeploymentRow, base: Mapping[str, Value], present: _Present) -> Iterator[str]:
    """Yield a sentence for each change of a deployment since a plan was created. ``base``: its state at that time."""
    roster = present.rosters[row.number]
    if has_new_shape(base, roster):
        now = present.base(row)
        if now["blueprint"] != base["blueprint"]:
            yield "the deployment has another blueprint"
        if now["inputs"] != base["inputs"]:
            yield "its inputs have changed"
        if now["shape"] != base["shape"]:
            yield f"it had {base['there']:,} instances then and has {now['there']:,} now, or different ones"
            return
    then, here = _states(base), roster.states
    if not np.array_equal(then, here):
        yield _states_moved(roster, then, here)


def has_new_shape(base: Mapping[str, Value], roster: Roster) -> bool:
    """Return True if the blueprint, inputs or instances of a deployment may have changed since a plan was created."""
    return base.get("version") != roster.version  # always so for plans stored by older versions


def _states_moved(roster: Roster, then: np.ndarray, here: np.ndarray) -> str:
    changed = (then != here).nonzero()[0].tolist()
    names = roster.state_names
    told = [
        f"{roster.ids[number]} was {state_name(int(then[number]), names)} and is {state_name(int(here[number]), names)}"
        for number in changed[:SHOWN]
    ]
    return ", ".join(told) + (f", and {len(changed) - SHOWN:,} more" if len(changed) > SHOWN else "")


def _states(base: Mapping[str, Value]) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(str(base["states"]))), np.uint8)


def _blueprint_text(topology: Topology) -> str:
    return json.dumps(json_codec.blueprint_to_json(topology.blueprint), sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# -- views and refusals ----------------------------------------------------------------------------------------------


class _Present:
    """The deployments of some plans and their present states, read for all plans at once."""

    def __init__(self, ctx: RequestContext, plans: Sequence[StoredPlan]) -> None:
        """Read the deployments of these plans, and the executions that carry plans out; deleted ones are ignored."""
        listings = ctx.store.listings
        rows = listings.deployments(DeploymentQuery(numbers={plan.deployment for plan in plans})) if plans else ()
        self.rows = {row.number: row for row in rows}
        waiting = [plan for plan in plans if not plan.execution and plan.deployment in self.rows]
        applied = {plan.execution for plan in plans if plan.execution}
        self.rosters = listings.rosters(sorted({plan.deployment for plan in waiting})) if waiting else {}
        runs = listings.executions(ExecutionQuery(numbers=applied)) if applied else ()
        self.executions = {run.number: run.id for run in runs}
        changed = {plan.deployment for plan in waiting if has_new_shape(plan.base, self.rosters[plan.deployment])}
        self._reads = ReadAhead(ctx.store)
        self._reads.read(DetailQuery(topologies_of=changed, inputs_of=changed))
        self._bases: dict[int, Mapping[str, Value]] = {}

    def base(self, row: DeploymentRow) -> Mapping[str, Value]:
        """Return the present state of a deployment, as ``base_of`` does, but compute it only once."""
        if row.number not in self._bases:
            self._bases[row.number] = _base(self._reads, self.rosters[row.number], row.number)
        return self._bases[row.number]


def _view(found: StoredPlan, present: _Present) -> PlanView:
    row = present.rows.get(found.deployment)
    changed: tuple[str, ...] = ()
    execution = ""
    if found.execution and row is not None:
        execution = present.executions.get(found.execution, "")
    elif row is None:
        changed = ("the deployment was deleted",)
    else:
        changed = tuple(moved(row, found.base, present))
    status = "applied" if found.execution else "moved" if changed else "waiting"
    name = "" if row is None else row.name
    return PlanView(
        found.id, name, found.request.workflow, status, found.created_at, found.created_by, execution, changed
    )


def _raise_if_replaced(topology: Topology, aim: Aim, request: Request) -> None:
    from phaseline.plan.workflows.apply_revision import raise_if_replaced, revised
    from phaseline.plan.workflows.update import ALLOW_REPLACE

    if request.parameters.get(ALLOW_REPLACE) is not True:
        raise_if_replaced(revised(topology, aim))


def _applied(view: PlanView) -> ProblemsError:
    mend = f"see what came of it: phaseline executions show {view.execution}" if view.execution else "make a new plan"
    return problem_error("PL-C071", f"{view.id} was applied already", mend)


def _raise_moved(view: PlanView) -> None:
    mend = "make and read a new plan, because this one is out of date: phaseline plan WORKFLOW -d NAME --save"
    raise ProblemsError(Problem("PL-C072", f"{view.id} cannot be applied: {what}", mend) for what in view.moved)


def plain(value: object) -> object:
    """Return a plan, or a part of one, as a JSON value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
