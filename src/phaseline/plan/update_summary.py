"""What an update comes to, as a value: the steps, what becomes of each node and why, and the rounds that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import frozen
from phaseline.model.graph import SubjectKind
from phaseline.model.problem import Problem
from phaseline.plan.revising import is_own
from phaseline.plan.steps import renames
from phaseline.plan.workflows.sorting_out import FORCE_REINSTALL, OWN_UPDATES, REINSTALL_LIST
from phaseline.plan.workflows.update import ALLOW_REPLACE, INSTALL_AGAIN, SKIP_UNINSTALL, UNINSTALL_AGAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint import Blueprint, Node
    from phaseline.model.differences import Change, Rename
    from phaseline.model.execution import Request
    from phaseline.plan.foresight import Foreseen
    from phaseline.plan.revising import Revision
    from phaseline.plan.summary import PlanSummary, Sign

CONTAINED = "what contains it is reinstalled"
SHOWN = 5
"""How many nodes a warning names; all are counted."""


@frozen
class NodeChange:
    """What becomes of the instances of one node. ``reason``: why they are replaced or reinstalled, empty where they are not.

    ``added`` and ``removed``: how many come and go of a node that stays.
    """

    sign: Sign
    name: str
    type: str
    count: int
    reason: str = ""
    changes: tuple[Change, ...] = ()
    added: int = 0
    removed: int = 0


@frozen
class UpdatePlan:
    """The whole plan of an update. ``differences``: all that the blueprints and inputs say differently; ``replaced``: {node: why}.

    ``changes``: those that are about no node. ``rounds``: those in which something is called or states change.
    """

    workflow: str
    deployment: str
    blueprint_file: str
    differences: tuple[Change, ...]
    nodes: tuple[NodeChange, ...]
    changes: tuple[Change, ...]
    replaced: Mapping[str, str]
    renames: tuple[Rename, ...]
    rounds: tuple[PlanSummary, ...]
    batches: int
    calls: int
    warnings: tuple[Problem, ...]


def summarise_update(
    names: tuple[str, str],
    revision: Revision,
    steps: Sequence[Change],
    former: Blueprint,
    request: Request,
    foreseen: Foreseen,
    rounds: tuple[PlanSummary, ...],
    warnings: tuple[Problem, ...],
) -> UpdatePlan:
    """The plan. ``names``: of the deployment and of the blueprint's file; ``former``: the blueprint until now."""
    again = _again(foreseen)
    nodes = _nodes(revision, former, request, again)
    came, went = revision.finished.blueprint.nodes, former.nodes
    gone = {name: node for name, node in went.items() if name not in came}
    come = {name: came[name] for name in revision.fates.added if name not in went}
    likely = renames(gone, come)
    return UpdatePlan(
        workflow=request.workflow,
        deployment=names[0],
        blueprint_file=names[1],
        differences=tuple(steps),
        nodes=nodes,
        changes=tuple(step for step in steps if not step.path.startswith("nodes.")),
        replaced=revision.fates.replaced,
        renames=likely,
        rounds=rounds,
        batches=sum(one.batches for one in rounds),
        calls=sum(one.calls for one in rounds),
        warnings=(*warnings, *_warnings(revision, former, request, likely)),
    )


def _again(foreseen: Foreseen) -> dict[str, int]:
    """{node: how many of its instances are reinstalled}."""
    found: dict[str, int] = {}
    for topology, graph in foreseen.graphs:
        if graph.name in {UNINSTALL_AGAIN, INSTALL_AGAIN}:
            own = np.repeat(
                [step.kind == SubjectKind.INSTANCE for step in graph.steps], [step.count for step in graph.steps]
            )
            who = np.unique(graph.subject[own])
            counts = np.bincount(topology.node[who], minlength=len(topology.nodes))
            found |= {topology.nodes[at].name: int(counts[at]) for at in counts.nonzero()[0].tolist()}
    return found


def _nodes(revision: Revision, former: Blueprint, request: Request, again: Mapping[str, int]) -> tuple[NodeChange, ...]:
    """Of every node to which something happens: those that go or stay, then those that come."""
    made, fates = revision.finished, revision.fates
    added = np.bincount(made.node[revision.added], minlength=len(made.nodes)).tolist()
    removed = np.bincount(made.node[revision.removed], minlength=len(made.nodes)).tolist()
    counts = np.bincount(made.node[made.is_there], minlength=len(made.nodes)).tolist()
    number = {made.nodes[at].name: at for at in range(len(made.nodes)) if at not in made.past}
    found: list[NodeChange] = []
    for name, node in former.nodes.items():
        if name in fates.removed and name not in fates.replaced:
            found.append(NodeChange("-", name, node.type, removed[fates.removed[name]]))
        elif name in fates.replaced:
            here = number[name]
            found.append(NodeChange("-/+", name, made.nodes[here].type, counts[here], fates.replaced[name]))
        else:
            here = number[name]
            told = _kept(made.nodes[here], revision, request, again)
            come, go = added[here], removed[here]
            if told is not None or come or go:
                sign, reason = told or (("+" if come else "-") if not (come and go) else "-/+", "")
                reason = reason or (CONTAINED if come and go else "")
                changes = revision.changed.get(name, ())
                found.append(NodeChange(sign, name, node.type, counts[here], reason, changes, come, go))
    for name in fates.added:
        if name not in fates.replaced:
            here = number[name]
            found.append(NodeChange("+", name, made.nodes[here].type, counts[here]))
    return tuple(found)


def _kept(node: Node, revision: Revision, request: Request, again: Mapping[str, int]) -> tuple[Sign, str] | None:
    """(sign, reason of a reinstall) of a node that stays; None where nothing is said of it."""
    changes = revision.changed.get(node.name, ())
    if node.name not in again:
        return ("~", "") if changes else None
    if not any(map(is_own, changes)):
        return "-/+", CONTAINED if not _is_named(request) else "it is on the list of those to reinstall, or in what is"
    if request.parameters.get(FORCE_REINSTALL) is True:
        return "-/+", "a reinstall is forced"
    updates = [name for name in OWN_UPDATES if (found := node.operations.get(name)) and found.is_implemented]
    return "-/+", CONTAINED if updates else "it has none of the operations update, update_config and update_apply"


def _is_named(request: Request) -> bool:
    return bool(request.parameters.get(REINSTALL_LIST))


def _warnings(revision: Revision, former: Blueprint, request: Request, likely: Sequence[Rename]) -> tuple[Problem, ...]:
    found = []
    if likely:
        listed = ", ".join(f"'{one.old}' -> '{one.new}'" for one in likely[:SHOWN])
        more = f" and {len(likely) - SHOWN:,} more" if len(likely) > SHOWN else ""
        what = "1 node says" if len(likely) == 1 else f"{len(likely):,} nodes say"
        found.append(
            Problem(
                "PL-P044",
                f"{what} the same under another name: {listed}{more}",
                "A node is known by its name: under another one it is uninstalled and installed anew. Keep the names to "
                "keep what is there.",
                severity="warning",
            )
        )
    if former.nodes and not revision.fates.kept:
        message = f"nothing of the deployment stays: all {len(former.nodes):,} nodes go or are replaced"
        mend = "See whether it is the blueprint you mean; a new deployment of it would leave this one alone."
        found.append(Problem("PL-P045", message, mend, severity="warning"))
    if len(revision.removed) and request.parameters.get(SKIP_UNINSTALL) is True:
        message = f"{len(revision.removed):,} instances are forgotten without being uninstalled"
        mend = "What there is of them stays where it is, and nothing here knows it any more."
        found.append(Problem("PL-P046", message, mend, severity="warning"))
    if revision.fates.replaced and request.parameters.get(ALLOW_REPLACE) is not True:
        listed = ", ".join(f"'{name}'" for name in list(revision.fates.replaced)[:SHOWN])
        message = f"nodes would have to be replaced: {listed}" + (", ..." * (len(revision.fates.replaced) > SHOWN))
        mend = "The update is refused before anything changes. If they may be uninstalled and installed anew: --allow-replace"
        found.append(Problem("PL-P041", message, mend, severity="warning"))
    return tuple(found)
