"""Summarise the plan of an update: its differences, the change of each node with the reason, and the rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.problems.problem import Problem
from phaseline.plan.graph import operation_names as op
from phaseline.plan.topology.blueprint_diff import renames
from phaseline.plan.topology.revision import is_own
from phaseline.plan.workflows.apply_revision import UPDATE
from phaseline.plan.workflows.check import CHECK_DRIFT
from phaseline.plan.workflows.update import ALLOW_REPLACE, INSTALL_AGAIN, SKIP_UNINSTALL, UNINSTALL_AGAIN
from phaseline.plan.workflows.update_or_reinstall import FORCE_REINSTALL, OWN_UPDATES, REINSTALL_LIST, SKIP_REINSTALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from phaseline.model.blueprint.blueprint import Blueprint, Node
    from phaseline.model.blueprint.diff import BlueprintChange, Rename
    from phaseline.model.execution.execution import Request
    from phaseline.plan.preview.plan_summary import PlanSummary, Sign
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.plan.topology.revision import Revision

Action = Literal["install", "uninstall", "update", "replace", "reinstall"]
"""The change of a node.

``replace`` means that it cannot be updated in place, and needs ``--allow-replace``. ``reinstall`` means that the rules
of the Cloudify document (source 3) require it (ADR 0031).
"""
CONTAINED = "what contains it is reinstalled"
CONTAINED_IN_REPLACED = "what contains it is replaced"
SHOWN = 5
"""Largest number of nodes that a warning or line names. It also gives the number of the others."""


@frozen
class NodeChange:
    """The change of one node's instances.

    ``reason`` is why they are replaced or reinstalled; otherwise empty. ``added`` and ``removed`` are the numbers of
    instances added to and removed from a node that is in both blueprints. ``again`` is the number of instances that are
    uninstalled and installed again.
    """

    sign: Sign
    name: str
    type: str
    count: int
    reason: str = ""
    changes: tuple[BlueprintChange, ...] = ()
    added: int = 0
    removed: int = 0
    action: Action = "update"
    again: int = 0


@frozen
class UpdatePlan:
    """The whole plan of an update.

    ``differences`` are all differences between the blueprints and inputs; ``changes`` are those that belong to no node.
    ``replaced`` is {node: why it is replaced}. ``rounds`` are the rounds with calls or state changes. ``reinstalled``
    is {node: why it is reinstalled}; this happens even without ``--allow-replace``. ``may_be_reinstalled`` is {node:
    condition} for nodes that are reinstalled only if the condition turns out to be true during the run.
    """

    workflow: str
    deployment: str
    blueprint_file: str
    differences: tuple[BlueprintChange, ...]
    nodes: tuple[NodeChange, ...]
    changes: tuple[BlueprintChange, ...]
    replaced: Mapping[str, str]
    renames: tuple[Rename, ...]
    rounds: tuple[PlanSummary, ...]
    batches: int
    calls: int
    warnings: tuple[Problem, ...]
    reinstalled: Mapping[str, str]
    may_be_reinstalled: Mapping[str, str]


def summarise_update(
    names: tuple[str, str],
    revision: Revision,
    steps: Sequence[BlueprintChange],
    former: Blueprint,
    request: Request,
    foreseen: PreviewedRounds,
    rounds: tuple[PlanSummary, ...],
    warnings: tuple[Problem, ...],
) -> UpdatePlan:
    """Return the plan of an update. ``names`` are the names of the deployment and of the blueprint's file.

    ``steps`` are all differences between the blueprints and inputs; ``former`` is the deployment's blueprint before the
    update. ``foreseen`` holds the graphs that the update would run, and ``rounds`` their plans.
    """
    again = _counts_in(foreseen, {UNINSTALL_AGAIN, INSTALL_AGAIN})
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
        reinstalled={node.name: node.reason for node in nodes if node.action == "reinstall"},
        may_be_reinstalled=_may_be_reinstalled(revision, request, foreseen, again),
    )


def _counts_in(foreseen: PreviewedRounds, names: AbstractSet[str]) -> dict[str, int]:
    """Return {node: number of its instances that have an entry in the graphs with these names}."""
    found: dict[str, int] = {}
    for topology, graph in foreseen.graphs:
        if graph.name in names:
            own = np.repeat(
                [step.kind == SubjectKind.INSTANCE for step in graph.steps], [step.count for step in graph.steps]
            )
            who = np.unique(graph.subject[own])
            counts = np.bincount(topology.node[who], minlength=len(topology.nodes))
            found |= {topology.nodes[at].name: int(counts[at]) for at in counts.nonzero()[0].tolist()}
    return found


def _nodes(revision: Revision, former: Blueprint, request: Request, again: Mapping[str, int]) -> tuple[NodeChange, ...]:
    """Return the changes of all changed nodes: first nodes of the former blueprint, then added ones.

    ``again`` is {node: number of its instances that are reinstalled}.
    """
    made, fates = revision.finished, revision.fates
    counts = np.bincount(made.node[made.is_there], minlength=len(made.nodes)).tolist()
    number = {made.nodes[at].name: at for at in range(len(made.nodes)) if at not in made.past}
    added = np.bincount(made.node[revision.added], minlength=len(made.nodes)).tolist()
    removed = np.bincount(made.node[revision.removed], minlength=len(made.nodes)).tolist()
    found: list[NodeChange] = []
    for name, node in former.nodes.items():
        if name in fates.removed and name not in fates.replaced:
            found.append(NodeChange("-", name, node.type, removed[fates.removed[name]], action="uninstall"))
        elif name in fates.replaced:
            type_, count, why = made.nodes[number[name]].type, counts[number[name]], fates.replaced[name]
            gone = removed[fates.removed[name]]
            found.append(NodeChange("-/+", name, type_, count, why, action="replace", again=gone))
        else:
            here = number[name]
            told = _stays(made.nodes[here], (added[here], removed[here]), revision, request, again)
            if told is not None:
                found.append(altered(told, count=counts[here]))
    for name in fates.added:
        if name not in fates.replaced:
            here = number[name]
            found.append(NodeChange("+", name, made.nodes[here].type, counts[here], action="install"))
    return tuple(found)


def _stays(
    node: Node, moved: tuple[int, int], revision: Revision, request: Request, again: Mapping[str, int]
) -> NodeChange | None:
    """Return the change of a node that is in both blueprints; None if nothing changes.

    ``moved`` are the numbers of its added and removed instances. ``again`` is {node: number of reinstalled instances}.
    """
    changes = revision.changed.get(node.name, ())
    come, go = moved
    told = NodeChange("~", node.name, node.type, 0, changes=changes, added=come, removed=go)
    if node.name in again:
        why = _why_again(node, changes, request)
        return altered(told, sign="-/+", reason=why, action="reinstall", again=again[node.name])
    if come and go and _is_in_replaced(node, revision):
        return altered(told, sign="-/+", reason=CONTAINED_IN_REPLACED, action="replace", again=go)
    if changes or (come and go):
        return told
    if come:
        return altered(told, sign="+", action="install")
    return altered(told, sign="-", action="uninstall") if go else None


def _is_in_replaced(node: Node, revision: Revision) -> bool:
    """Return True if a node that stays is contained, at any depth, in a node that is replaced."""
    nodes, container = revision.finished.blueprint.nodes, node.container
    while container is not None and container not in revision.fates.replaced:
        container = nodes[container].container
    return container is not None


def _why_again(node: Node, changes: Iterable[BlueprintChange], request: Request) -> str:
    """Return why a node is reinstalled although it is in both blueprints."""
    if not any(map(is_own, changes)):
        return CONTAINED if not _is_named(request) else "it is on the list of those to reinstall, or in what is"
    if request.parameters.get(FORCE_REINSTALL) is True:
        return "a reinstall is forced"
    return (
        CONTAINED
        if _has_any(node, OWN_UPDATES)
        else "it has none of the operations update, update_config and update_apply"
    )


def _may_be_reinstalled(
    revision: Revision, request: Request, foreseen: PreviewedRounds, again: Mapping[str, int]
) -> dict[str, str]:
    """Return {node: condition of its reinstall} for nodes whose reinstall depends on results of the run."""
    if request.parameters.get(SKIP_REINSTALL) is True:
        return {}
    asked, updated = _counts_in(foreseen, {CHECK_DRIFT}), _counts_in(foreseen, {UPDATE})
    found: dict[str, str] = {}
    for name, number in revision.fates.kept.items():
        node = revision.finished.nodes[number]
        is_asked = name in asked and _has_any(node, (op.CHECK_DRIFT,))
        if name in again or not (is_asked or name in updated):
            continue
        if not _has_any(node, OWN_UPDATES) and is_asked:
            found[name] = "check_drift finds that it has drifted, or fails"
        else:
            found[name] = "check_drift fails, or it cannot be updated" if is_asked else "it cannot be updated"
    return found


def _has_any(node: Node, operations: Iterable[str]) -> bool:
    return any((found := node.operations.get(name)) is not None and found.is_implemented for name in operations)


def _is_named(request: Request) -> bool:
    return bool(request.parameters.get(REINSTALL_LIST))


def _warnings(revision: Revision, former: Blueprint, request: Request, likely: Sequence[Rename]) -> tuple[Problem, ...]:
    found = []
    if likely:
        listed = ", ".join(f"'{one.old}' -> '{one.new}'" for one in likely[:SHOWN])
        more = f" and {len(likely) - SHOWN:,} more" if len(likely) > SHOWN else ""
        what = "1 node is" if len(likely) == 1 else f"{len(likely):,} nodes are"
        found.append(
            Problem(
                "PL-P044",
                f"{what} the same except for the name: {listed}{more}",
                "a node is identified by its name: a renamed one is uninstalled and installed again; keep the names to "
                "keep the instances",
                severity="warning",
            )
        )
    if former.nodes and not revision.fates.kept:
        message = f"nothing of the deployment stays: all {len(former.nodes):,} nodes are removed or replaced"
        mend = "check that this is the right blueprint; a new deployment of it would leave this one unchanged"
        found.append(Problem("PL-P045", message, mend, severity="warning"))
    if len(revision.removed) and request.parameters.get(SKIP_UNINSTALL) is True:
        message = f"{len(revision.removed):,} instances are forgotten without being uninstalled"
        mend = "their resources stay, and Phaseline no longer knows them"
        found.append(Problem("PL-P046", message, mend, severity="warning"))
    if revision.fates.replaced and request.parameters.get(ALLOW_REPLACE) is not True:
        listed = ", ".join(f"'{name}'" for name in list(revision.fates.replaced)[:SHOWN])
        message = f"nodes would have to be replaced: {listed}" + (", ..." * (len(revision.fates.replaced) > SHOWN))
        mend = "the update is refused before anything changes; if they may be uninstalled and installed again: --allow-replace"
        found.append(Problem("PL-P041", message, mend, severity="warning"))
    return tuple(found)
