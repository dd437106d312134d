"""Apply resources from files: create clusters, add or change resources, and start those with a new target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import altered, as_dict, frozen
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.index_ranges import ranges_of
from phaseline.model.deployment.runtime_properties import is_same
from phaseline.model.execution.execution import Request
from phaseline.model.phases.phase_data import attributes_in
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW, OutgrownError, ResourceAddition, no_resources, type_node
from phaseline.model.rows.rows import NewDeployment, NewExecution, RequestKind
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.resources.requests import answered, answered_again
from phaseline.use_cases.loading.resource_files import WantedResource, read_wanted
from phaseline.use_cases.lookup.known_phases import read, refused_sentences
from phaseline.use_cases.prepare.breakpoints import unmet_stops, with_kept
from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.phases.plugin_set import LoadedPlugins
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.state_paths import ResourceTypes
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.commands.submission import Submissions

Action = Literal["created", "changed", "unchanged"]
TRIES = 20
"""Number of attempts if other processes keep adding resources between reading and writing."""
MOST_LISTED = 50


@frozen
class AppliedResource:
    """The result for one resource of the files. ``target``: its new target, or "" if its target stays as it was."""

    name: str
    cluster: str
    action: Action
    target: str = ""


@frozen
class Applied:
    """The result for all files.

    ``executions``: those that bring resources to their targets. ``is_running``: an engine runs. ``warnings``: possible
    mistakes in the files.
    """

    resources: Sequence[AppliedResource]
    clusters: Sequence[str]
    executions: Sequence[str]
    is_running: bool
    warnings: Sequence[str] = ()


@dataclass(slots=True)
class _Plan:
    """The changes of one cluster. ``cluster``: the number of the cluster.

    ``growth``: resources to add; ``edits``: changes of existing ones; ``targets``: {new target: resource numbers};
    ``stops``: breakpoints at which resources with a new target stop; ``told``: the result for each resource.
    """

    cluster: int
    growth: ResourceAddition
    stops: tuple[Breakpoint, ...] = ()
    edits: list[dict[str, Value]] = field(default_factory=list)
    targets: dict[str, list[int]] = field(default_factory=dict)
    told: list[AppliedResource] = field(default_factory=list)

    @property
    def requests(self) -> list[Request]:
        """The requests that bring resources to their new targets, one for each target."""
        return [
            reach(target, np.array(numbers, np.int64), breakpoints=self.stops)
            for target, numbers in self.targets.items()
        ]


def reach(
    target: str, numbers: np.ndarray, *, force: bool = False, breakpoints: tuple[Breakpoint, ...] = ()
) -> Request:
    """Return the request that brings resources to a target; with an empty target it removes them.

    ``force``: do not wait for the resources' running calls.
    """
    forced: dict[str, Value] = {"force": True} if force else {}
    return Request(
        REACH_WORKFLOW, {"target": target, "subjects": ranges_of(numbers), **forced}, breakpoints=breakpoints
    )


def _applied_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> Submissions[Applied]:
    applied: Any = found.answer
    resources = [AppliedResource(**one) for one in applied["resources"]]
    return answered_again(
        ctx, found, lambda engine: altered(Applied(**applied), resources=resources, is_running=engine.is_there)
    )


@once("resources apply", _applied_again)
def apply(
    ctx: RequestContext,
    files: Sequence[str],
    *,
    cluster: str = "",
    records: Sequence[Mapping[str, object]] = (),
    breakpoints: tuple[Breakpoint, ...] = (),
    given: NewOrder | None = None,
) -> Submissions[Applied]:
    """Apply the resources in files to the store: add new resources, and change attributes with other values.

    Attributes that a file does not name stay; attributes that it gives as undefined are removed. A target other than
    the present one becomes the new target. If there is a problem, nothing is stored. ``cluster``: the cluster of
    records that name no cluster. ``records``: further records, as JSON values. ``breakpoints``: for resources that
    start, in addition to those of their cluster. Raises: ``ProblemsError`` with all problems.
    """
    loaded = _loaded(ctx)
    registry = loaded.registry
    wanted = read_wanted(files, registry.types, cluster=cluster, records=records)
    grouped: dict[str, list[WantedResource]] = {}
    for one in wanted:
        grouped.setdefault(one.cluster, []).append(one)
    problems = [
        problem for name, ones in grouped.items() for problem in _misfits(ctx, ctx.store.deployment(name), ones)
    ]
    if breakpoints:
        problems += unmet_stops(breakpoints, [(one.name, one.type, one.target) for one in wanted], registry)
    if problems:
        raise ProblemsError(problems)
    applied = Applied((), list(grouped), (), False, [*refused_sentences(loaded), *_empty_ways(wanted, registry)])
    for _ in range(TRIES):
        plans = [_plan_of(ctx, name, ones, registry.types, breakpoints) for name, ones in grouped.items()]
        try:
            with ctx.store.as_one(given) as answer:
                made, asked = _stored(ctx, plans)
                found = [one for plan in plans for one in plan.told]
                if given is not None:
                    answer.update(as_dict(applied) | {"resources": [as_dict(one) for one in found], "executions": made})
        except OutgrownError:
            continue
        return _applied(ctx, asked, altered(applied, resources=found, executions=made))
    names = ", ".join(f"'{name}'" for name in grouped)
    cluster_s = "clusters" if len(grouped) > 1 else "cluster"
    raise problem_error(
        "PL-C038",
        f"other commands keep adding resources to the {cluster_s} {names}",
        "repeat this command when they have ended",
    )


def _applied(ctx: RequestContext, asked: Sequence[int], applied: Applied) -> Submissions[Applied]:
    return answered(ctx, asked, lambda engine: altered(applied, is_running=engine.is_there))


def _empty_ways(wanted: Sequence[WantedResource], registry: PhaseRegistry) -> list[str]:
    """Return a warning for each wanted state path without any phase.

    The folder with the phases is then probably missing in the settings.
    """
    found = []
    for kind, target in dict.fromkeys((one.type, one.target) for one in wanted if one.target):
        path = registry.types.path(kind, target)
        states = path.states[:-1] if path is not None else ()
        if not any(registry.of(state, kind) for state in states):
            found.append(
                f"no phase is defined on the way of {kind} to {target}: all states are passed at once and nothing is "
                "called; plugins are looked for in the folders of the setting plugins.path"
            )
    return found


def _loaded(ctx: RequestContext) -> LoadedPlugins:
    return read(ctx, ctx.settings.plugin_folders)


def _misfits(ctx: RequestContext, row: DeploymentRow | None, wanted: Sequence[WantedResource]) -> list[Problem]:
    """Return the problems of wanted resources that contradict what is stored.

    PL-C036 if the cluster's name is that of a blueprint's deployment, PL-C037 for each existing resource of another
    type.
    """
    if row is None:
        return []
    if row.kind != "resources":
        message = f"'{row.name}' is a deployment of a blueprint"
        mend = "choose another name for the cluster: ClusterName, or -d NAME"
        return [Problem("PL-C036", message, mend, wanted[0].place)]
    snapshot = ClusterSnapshot(ctx.store, row)
    found = []
    for one in wanted:
        number = snapshot.numbers.get(one.name)
        if number is not None and snapshot.type(number) != one.type:
            message = f"the resource '{one.name}' is a {snapshot.type(number)} and cannot become a {one.type}"
            mend = f"give it another name, or remove it first: phaseline resources delete {one.name} -d {one.cluster}"
            found.append(Problem("PL-C037", message, mend, one.place))
    return found


def _plan_of(
    ctx: RequestContext,
    name: str,
    wanted: Sequence[WantedResource],
    types: ResourceTypes,
    breakpoints: tuple[Breakpoint, ...],
) -> _Plan:
    """Return the changes that give a cluster the wanted resources. If the cluster does not exist, store it first."""
    row = ctx.store.deployment(name) or _make(ctx, name)
    problems = _misfits(ctx, row, wanted)
    if problems:
        raise ProblemsError(problems)
    kept = with_kept(ctx.store, row.number, breakpoints)
    return _planned(ClusterSnapshot(ctx.store, row), wanted, types, kept)


def _stored(ctx: RequestContext, plans: Sequence[_Plan]) -> tuple[list[str], list[int]]:
    """Store the changes; return (ids of new executions, numbers of requests whose answers are awaited).

    Raises: ``OutgrownError`` if another process has added resources meanwhile.
    """
    store, made, asked = ctx.store, [], []
    for plan in plans:
        if plan.growth.ids:
            made += [one.id for one in store.grow(plan.cluster, plan.growth, ctx.actor, asks=True)]
        else:
            new = [NewExecution(plan.cluster, one, ctx.actor, ctx.clock.now()) for one in plan.requests]
            made += [store.create_execution(one, asks=True).id for one in new]
        if plan.edits:
            body: Mapping[str, Value] = {"deployment": plan.cluster, "edits": list(plan.edits)}
            asked.append(store.ask(RequestKind.EDIT, 0, body, ctx.actor))
    return made, asked


def _make(ctx: RequestContext, name: str) -> DeploymentRow:
    """Create a cluster without resources, or return the existing one."""
    empty, now = no_resources(), ctx.clock.now()
    new = NewDeployment(name, empty.blueprint, {}, empty, CodeLocation(""), ctx.actor, now, kind="resources")
    try:
        ctx.store.create_deployment(new)
    except ProblemsError as error:
        if error.problems[0].code != "PL-S010":  # another process was faster
            raise
    row = ctx.store.deployment(name)
    assert row is not None, "it was made"
    return row


def _planned(
    snapshot: ClusterSnapshot, wanted: Sequence[WantedResource], types: ResourceTypes, stops: tuple[Breakpoint, ...]
) -> _Plan:
    first = len(snapshot.topology)
    known = snapshot.topology.node_number
    added: dict[str, int] = {}
    ids: list[str] = []
    nodes: list[int] = []
    documents: dict[int, dict[str, Value]] = {}
    there = [snapshot.numbers[one.name] for one in wanted if one.name in snapshot.numbers]
    present = snapshot.store.documents(snapshot.row.number, there) if there else {}
    plan = _Plan(snapshot.row.number, ResourceAddition(first, (), (), np.empty(0, np.int32)), stops)
    for one in wanted:
        number = snapshot.numbers.get(one.name)
        if number is not None:
            _change(plan, snapshot, number, one, attributes_in(present.get(number, {})))
            continue
        number = first + len(ids)
        node = known.get(one.type)
        if node is None:
            node = added.setdefault(one.type, len(known) + len(added))
        ids.append(one.name)
        nodes.append(node)
        if one.attributes:
            documents[number] = dict(one.attributes)
        if one.target:
            plan.targets.setdefault(one.target, []).append(number)
        plan.told.append(AppliedResource(one.name, one.cluster, "created", one.target))
    made = [type_node(name, tuple(reversed(types.line(name)))) for name in added]
    plan.growth = ResourceAddition(first, made, ids, np.array(nodes, np.int32), documents, plan.requests)
    return plan


def _change(
    plan: _Plan, snapshot: ClusterSnapshot, number: int, one: WantedResource, document: Mapping[str, Value]
) -> None:
    """Add the changes of an existing resource to the plan."""
    spelled = {name.lower(): name for name in document}
    written: list[Value] = []
    for name, value in one.attributes.items():
        own = spelled.get(name.lower(), name)
        if own not in document or not is_same(document[own], value):
            written.append([[own], value])
    removed: list[Value] = [[spelled[name.lower()]] for name in one.removed if name.lower() in spelled]
    if written or removed:
        plan.edits.append({"instance": number, "written": written, "removed": removed})
    moves = bool(one.target) and (one.target != snapshot.target(number) or _is_left(snapshot, number, one.target))
    if moves:
        plan.targets.setdefault(one.target, []).append(number)
    action: Action = "changed" if written or removed else "unchanged"
    plan.told.append(AppliedResource(one.name, one.cluster, action, one.target if moves else ""))


def _is_left(snapshot: ClusterSnapshot, number: int, target: str) -> bool:
    """Return whether a resource is not at its target and no execution brings it there."""
    return snapshot.standing(number) == "still" and snapshot.state(number) != target
