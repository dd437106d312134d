"""What a workflow would do, without doing it: runs no code of a blueprint or plugin, stores nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution import History, Request, Verdict
from phaseline.model.frozen import altered, frozen
from phaseline.model.problem import Problem
from phaseline.use_cases.finding import find_deployment
from phaseline.use_cases.installing import AS_SET, Order, refuse_taken
from phaseline.use_cases.loading import deployment_name, load
from phaseline.use_cases.moving import refuse_moved
from phaseline.use_cases.owning import declarer, refuse, slots
from phaseline.use_cases.status import has_store

if TYPE_CHECKING:
    from phaseline.model.graph import Graph
    from phaseline.model.rows import CodePlaces
    from phaseline.model.topology import Topology
    from phaseline.plan.summary import PlanSummary
    from phaseline.use_cases.workflows import Start
    from phaseline.use_cases.workplace import Workplace


@frozen
class NothingToDo:
    """A plan without a step, and why."""

    workflow: str
    reason: str


@frozen
class Planned:
    """A plan as a value, as text, and what a user should know beforehand."""

    summary: PlanSummary | NothingToDo
    text: str
    warnings: tuple[Problem, ...] = ()


def plan_install(place: Workplace, order: Order) -> Planned:
    """What installing a blueprint would do. Raises ``ProblemsError`` with everything that is wrong.

    A name that is given for the deployment is looked at as an install would, as far as there is a store.
    """
    name = None if order.name is None else deployment_name(order.file, order.name)
    loaded = load(place, order.file, inputs=order.inputs, plugin_folders=order.plugin_folders, yes_many=order.yes_many)
    if name is not None and has_store(place):
        refuse_taken(place, name)
    history = History(np.zeros(len(loaded.topology), np.uint8))
    request = AS_SET.request("install", place, {})
    answer = _ask(place, loaded.topology, loaded.code, request, history)
    return _planned(place, loaded.topology, request, answer, loaded.warnings, yes_many=order.yes_many)


def plan_uninstall(place: Workplace, name: str, *, ignore_failure: bool = False) -> Planned:
    """What uninstalling a deployment would do now. Raises PL-C010 if there is none, PL-C024 if its folder is gone."""
    row = find_deployment(place.store, name)
    refuse_moved(place, row)
    topology = place.store.topology(row.number)
    history = History(np.frombuffer(bytes(place.store.states(row.number)), np.uint8))
    request = AS_SET.request("uninstall", place, {"ignore_failure": True} if ignore_failure else {})
    return _planned(place, topology, request, _ask(place, topology, row.code, request, history), (), yes_many=True)


def plan_workflow(place: Workplace, order: Start) -> Planned:
    """What a workflow of a deployment would do now. Raises ``ProblemsError`` with everything that ``prepare`` finds."""
    from phaseline.use_cases.workflows import prepare

    found = prepare(place, order)
    history = History(found.states)
    answer = _plan(place, found.topology, found.deployment.code, found.request, history)
    return _planned(place, found.topology, found.request, answer, (), yes_many=True)


def _ask(place: Workplace, topology: Topology, code: CodePlaces, request: Request, history: History) -> Graph | Verdict:
    refuse(topology, request)
    return _plan(place, topology, code, request, history)


def _plan(
    place: Workplace, topology: Topology, code: CodePlaces, request: Request, history: History
) -> Graph | Verdict:
    from phaseline.plan.workflows import PLANNERS

    declare = declarer(place.catalog)
    return PLANNERS[request.workflow](topology, request, history, lambda operation: declare(operation, code))


def _planned(
    place: Workplace,
    topology: Topology,
    request: Request,
    answer: Graph | Verdict,
    warnings: tuple[Problem, ...],
    *,
    yes_many: bool,
) -> Planned:
    from phaseline.plan.rendering import plan_text
    from phaseline.plan.summary import summarise

    if isinstance(answer, Verdict):
        reason = answer.reason or "nothing is to be done"
        return Planned(NothingToDo(request.workflow, reason), f"{request.workflow}: {reason}", warnings)
    summary = summarise(topology, answer, slots=asdict(slots(place)), yes_many=yes_many)
    summary = altered(summary, warnings=(*warnings, *summary.warnings))
    return Planned(summary, plan_text(summary).rstrip("\n"))
