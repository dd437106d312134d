"""Plan a heal: repair unhealthy instances, and reinstall those that cannot be repaired (W30-W37).

It has four rounds, each of which may be left out: ``check_status``, ``heal``, then ``uninstall`` and ``install`` of the
instances to reinstall. The rounds are computed only from instance states and results of checks. So an engine that takes
the execution over halfway computes the same rounds. An update uses functions of this module for the instances that it
updates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.health.checks import CheckKind, CheckResult
from phaseline.model.problems.problem import Problem
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Call
from phaseline.plan.graph.verdicts import counted, settled, verdict
from phaseline.plan.graph.workflow import SWITCH, Parameter, Workflow, refuse_restricted
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import install, uninstall
from phaseline.plan.workflows.check import CHECK_STATUS, build_status_graph, implementing, is_up
from phaseline.plan.workflows.lifecycle_retries import retrying
from phaseline.plan.workflows.operation_round import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request, Round
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

HEAL = "heal"
"""Name of the workflow, and of the graph that heals."""
NODE_INSTANCE_ID = "node_instance_id"
DIAGNOSE_VALUE = "diagnose_value"
ALLOW_REINSTALL = "allow_reinstall"
FORCE_REINSTALL = "force_reinstall"
ASSUME_HEALTHY = "assume_healthy"
"""Parameter: instances that were never checked, or have no check, count as healthy (WD3)."""
NO_DIAGNOSIS = "Not provided"
"""Text of the diagnosis if the user gives none."""

SHOWN = 5
"""Largest number of instances or nodes that a message names. It also gives the number of the others."""
ALL_WELL = "every instance is healthy, so there was nothing to heal"
HEALING = Walk((Call(op.PREHEAL), Call(op.HEAL), Call(op.POSTHEAL)), once=True, however=True)


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph of the next round that is needed: check_status, heal, uninstall, install.

    After the last one, the verdict.
    """
    asked = Asked(topology, request, history, declare)
    done = settled(history, install.INSTALL)
    if done:
        return _heal_verdict(asked, verdict(history, done))
    gone = settled(history, uninstall.UNINSTALL)
    if gone:
        if history.canceled or not gone.is_met:
            return verdict(history, gone)
        return install.build_install_graph(asked, _wrong(asked), intact=op.INSTALL_RELATIONSHIP_OPERATIONS)
    healed = settled(history, HEAL)
    last = healed or settled(history, CHECK_STATUS)
    if last and (history.canceled or not _is_conclusive(last)):
        return verdict(history, last)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    return _next(asked, checked=last is not None, healed=healed is not None)


def _next(asked: Asked, *, checked: bool, healed: bool) -> Graph | Verdict:
    """Return the next graph up to the uninstall of instances to reinstall, or a verdict if no graph is needed."""
    selected, parameters = select(asked.topology, asked.request), asked.request.parameters
    if not selected.any():
        return Verdict(ExecutionStatus.COMPLETED, NOBODY)
    if parameters.get(FORCE_REINSTALL) is not True:
        if not checked and parameters.get(CHECK_STATUS) is not False:
            graph = build_status_graph(asked, selected & ~_marked(asked), tolerant=True)
            if graph:
                return graph
        sick = to_heal(asked, selected)
        if not healed and sick.any():
            return build_heal_graph(asked, sick)
    wrong = _wrong(asked)
    if not wrong.any():
        last = settled(asked.history, HEAL) or settled(asked.history, CHECK_STATUS)
        reason = ALL_WELL if not healed else counted(last) if last else ""
        return _heal_verdict(asked, Verdict(ExecutionStatus.COMPLETED, reason))
    if parameters.get(ALLOW_REINSTALL) is False:
        return Verdict(
            ExecutionStatus.FAILED, f"{ALLOW_REINSTALL} is false, and {_named(asked, wrong)} must be reinstalled"
        )
    refuse_restricted(asked.topology, "replace", wrong)
    ignore_failure = parameters.get(uninstall.IGNORE_FAILURE) is not False
    return uninstall.build_uninstall_graph(asked, wrong, ignore_failure=ignore_failure)


def _heal_verdict(asked: Asked, found: Verdict) -> Verdict:
    """Return the verdict of a finished heal; its reason also names the healed and the reinstalled instances."""
    if found.status is not ExecutionStatus.COMPLETED:
        return found
    nobody = np.zeros(len(asked.topology), bool)
    again = nobody.copy()
    for name in (uninstall.UNINSTALL, install.INSTALL):
        _mark(again, asked.history.called(name))
    healed = nobody.copy()
    _mark(healed, asked.history.called(HEAL))
    parts = [
        f"{what} {_named(asked, chosen)}"
        for what, chosen in (("healed", healed & ~again), ("reinstalled", again & asked.topology.is_there))
        if chosen.any()
    ]
    return Verdict(found.status, "; ".join([*parts, *([found.reason] if found.reason else [])]))


def _mark(chosen: np.ndarray, called: np.ndarray | None) -> None:
    """Mark in ``chosen`` the instances that ``called`` marks, both bool by instance number.

    The lengths may differ, because instances may have been added to the topology since the calls.
    """
    if called is not None:
        chosen[: len(called)] |= called[: len(chosen)]


def _is_conclusive(done: Round) -> bool:
    """Return True if the result is known for every instance. A failed check or heal counts as a known result."""
    return not done.counts.get("unsure", 0) and not done.counts.get("canceled", 0)


def _wrong(asked: Asked) -> np.ndarray:
    selected = select(asked.topology, asked.request)
    if asked.request.parameters.get(FORCE_REINSTALL) is True:
        return with_contained(asked.topology, selected)
    return to_reinstall(asked, selected)


def concerned(asked: Asked) -> np.ndarray:
    """Return the instances that this heal changes, bool by number.

    Before the heal these are the instances to heal or reinstall; afterwards those that it has healed or reinstalled.
    Tasks of packages run for these instances, and not for instances that are only checked.
    """
    topology, history = asked.topology, asked.history
    done = [one for one in history.rounds if one.name in {HEAL, uninstall.UNINSTALL, install.INSTALL}]
    if not done:
        selected = select(topology, asked.request)
        if asked.request.parameters.get(FORCE_REINSTALL) is True:
            return with_contained(topology, selected)
        sick = to_heal(asked, selected)
        sick |= with_contained(topology, selected & ~_healthy(asked, is_healed=False) & ~sick)
        return sick
    found = np.zeros(len(topology), bool)
    for name in {one.name for one in done}:
        called = history.called(name)
        if called is not None:
            found[: len(called)] |= called[: len(topology)]
    return found


# -- parts that update uses as well -----------------------------------------------------------------------------------


def to_heal(asked: Asked, selected: np.ndarray) -> np.ndarray:
    """Return the selected instances that are unhealthy and can be healed, bool by number (W34).

    Instances that will be reinstalled, because they or their containers cannot be healed, are not included.
    """
    sick = selected & ~_healthy(asked, is_healed=False)
    healable = implementing(asked.topology, op.HEAL) & is_up(asked)
    found: np.ndarray = sick & healable & ~with_contained(asked.topology, sick & ~healable)
    return found


def build_heal_graph(asked: Asked, chosen: np.ndarray) -> Graph:
    """Return the graph that heals the chosen instances in dependency order.

    A failed heal does not block other instances (W36).
    """
    return weave(asked, HEAL, chosen, HEALING)


def to_reinstall(asked: Asked, selected: np.ndarray) -> np.ndarray:
    """Return the selected instances that are unhealthy even after the heal, with everything that they contain (W37)."""
    return with_contained(asked.topology, selected & ~_healthy(asked, is_healed=True))


def with_contained(topology: Topology, chosen: np.ndarray) -> np.ndarray:
    """Return these instances, and all instances contained in them, directly or not; bool by number."""
    container = topology.container
    inside = container >= 0
    while True:
        more: np.ndarray = chosen | (inside & chosen[container] & topology.is_there)
        if (more == chosen).all():
            return more
        chosen = more


def _marked(asked: Asked) -> np.ndarray:
    """Return the instances that an operator has marked unhealthy, bool by number. A check does not remove the mark."""
    count = len(asked.topology)
    marked: np.ndarray = asked.history.checks.column(CheckKind.STATUS, count) == CheckResult.MARKED
    return marked


def _healthy(asked: Asked, *, is_healed: bool) -> np.ndarray:
    """Return the instances that are healthy by their last results, bool by number (W33).

    With ``is_healed``, a successful heal makes an instance healthy even if it has no check.
    """
    topology = asked.topology
    status = asked.history.checks.column(CheckKind.STATUS, len(topology))
    if asked.request.parameters.get(ASSUME_HEALTHY) is True:
        unless_ill: np.ndarray = ~np.isin(status, [CheckResult.FAILED, CheckResult.MARKED])
        return unless_ill
    is_well = (status == CheckResult.GOOD) | (status == CheckResult.HEALED)
    found: np.ndarray = is_well & implementing(topology, op.CHECK_STATUS)
    if is_healed:
        found |= (status == CheckResult.HEALED) & implementing(topology, op.HEAL)
    found &= is_up(asked)
    return found


# -- what is asked for ------------------------------------------------------------------------------------------------


def select(topology: Topology, request: Request) -> np.ndarray:
    """Return the instances that the request selects, bool by number (W30, WD5).

    These are all instances; or, if the request names one instance, its host with everything on it.
    """
    id = request.parameters.get(NODE_INSTANCE_ID)
    if not id:
        return topology.is_there.copy()
    chosen = np.zeros(len(topology), bool)
    number = topology.number_of.get(str(id))
    if number is not None:
        host = int(topology.host[number])
        chosen[host if host >= 0 else number] = True
    return with_contained(topology, chosen & topology.is_there)


def claims(topology: Topology, request: Request) -> np.ndarray | None:
    """Return the instances that a heal may change; None for all.

    If the request names one instance, these are its host with everything on it.
    """
    return select(topology, request) if request.parameters.get(NODE_INSTANCE_ID) else None


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P001 for an unknown instance, and PL-P031 if a reinstall is both forbidden and forced."""
    id, parameters = request.parameters.get(NODE_INSTANCE_ID), request.parameters
    number = topology.number_of.get(str(id)) if id else None
    if id and (number is None or not topology.is_there[number]):
        near = _nearest(topology, str(id))
        mend = f"did you mean '{near}'?" if near else "see: phaseline instances list -d NAME"
        yield Problem("PL-P001", f"{NODE_INSTANCE_ID}: the deployment has no node instance '{id}'", mend)
    if parameters.get(FORCE_REINSTALL) is True and parameters.get(ALLOW_REINSTALL) is False:
        what = f"{FORCE_REINSTALL} is true and {ALLOW_REINSTALL} is false"
        yield Problem(
            "PL-P031",
            f"{what}: the two contradict each other",
            f"leave one of them out: {FORCE_REINSTALL} alone reinstalls",
        )


def _nearest(topology: Topology, wrong: str) -> str:
    """Return the id most similar to ``wrong``, which may also be the name of a node; empty if no id is similar."""
    from phaseline.lang.did_you_mean import closest

    near = closest(wrong, topology.ids)
    node = None if near else closest(wrong, topology.node_number)
    if node is not None:
        near = next((topology.ids[number] for number in topology.instances_of(topology.node_number[node])[:1]), None)
    return near or ""


def warnings(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P032 for nodes without a check, because all their instances count as unhealthy (W33, WD3)."""
    parameters = request.parameters
    if parameters.get(ASSUME_HEALTHY) is True or parameters.get(FORCE_REINSTALL) is True:
        return
    unchecked = select(topology, request) & ~implementing(topology, op.CHECK_STATUS)
    healed = np.unique(topology.node[unchecked & implementing(topology, op.HEAL)]).tolist()
    others = np.unique(topology.node[unchecked & ~implementing(topology, op.HEAL)]).tolist()
    for numbers, fate in ((others, "reinstalled"), (healed, "healed")):
        if numbers:
            listed = ", ".join(f"'{topology.nodes[number].name}'" for number in numbers[:SHOWN])
            more = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
            count = int(unchecked[np.isin(topology.node, numbers)].sum())
            yield Problem(
                "PL-P032",
                f"{listed}{more} have no check_status, so their {count:,} instances count as not healthy and are {fate}",
                f"give them a check_status, or do not heal instances that were never checked: -p {ASSUME_HEALTHY}=true",
                severity="warning",
            )


def _named(asked: Asked, chosen: np.ndarray) -> str:
    """Return the ids of the first few instances, and the number of the others, as text (W35)."""
    numbers = chosen.nonzero()[0].tolist()
    listed = ", ".join(asked.topology.ids[number] for number in numbers[:SHOWN])
    return listed + (f" (and {len(numbers) - SHOWN:,} more)" if len(numbers) > SHOWN else "")


PARAMETERS: Mapping[str, Parameter] = {
    NODE_INSTANCE_ID: Parameter((str,), "the id of a node instance"),
    DIAGNOSE_VALUE: Parameter((str,), "a text with the reason"),
    uninstall.IGNORE_FAILURE: SWITCH,
    CHECK_STATUS: SWITCH,
    ALLOW_REINSTALL: SWITCH,
    FORCE_REINSTALL: SWITCH,
    ASSUME_HEALTHY: SWITCH,
}
WORKFLOW = Workflow(
    retrying(plan, uninstall.BEFORE_AGAIN), PARAMETERS, problems=problems, warnings=warnings, claims=claims
)
