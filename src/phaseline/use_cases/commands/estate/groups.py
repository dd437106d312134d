"""Create, extend, shrink and delete deployment groups (GR1, GR2, GR11)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.calls.deployments import blocking_consumers
from phaseline.lang.fast_dataclasses import altered, as_dict, frozen
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.problems.name_rules import MEND, why_no_name
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.rows.groups import MOST_AT_ONCE, NewGroup
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.loading import blueprint_loading
from phaseline.use_cases.lookup import label_syntax
from phaseline.use_cases.lookup.blocking_executions import is_read
from phaseline.use_cases.lookup.find import find_deployment, listed
from phaseline.use_cases.prepare.group_members import NewMembers, PreparedMembers, in_portions, prepare_members
from phaseline.use_cases.queries.deployments import living_count
from phaseline.use_cases.queries.estate.groups import GroupView, find_group, group_view, show_group

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.groups import GroupMember, GroupRow
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import DeploymentRow, NewDeployment

RUN_ID = re.compile(r"run-[0-9]+")
"""Ids of runs over groups, which therefore no group can have as its name."""
NO_MEMBERS = NewMembers()


@frozen
class GroupOrder:
    """What a user gives for a group and its members.

    ``blueprint``: a file or a stored blueprint of which new members are made, with ``inputs`` for all of them.
    ``deployments`` and those in ``from_groups`` become members unchanged.
    """

    blueprint: str | None = None
    plugin_folders: Sequence[str] = ()
    inputs: Mapping[str, Value] = field(default_factory=dict)
    members: NewMembers = NO_MEMBERS
    deployments: Sequence[str] = ()
    from_groups: Sequence[str] = ()
    labels: Sequence[str] = ()
    description: str = ""


def _shown_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> GroupView:
    return show_group(ctx, str(found.answer["group"]))


def _deleted_again(_ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> GroupView:
    seen: Any = found.answer
    return GroupView(**seen)


@once("create_group", _shown_again)
def create_group(ctx: RequestContext, name: str, order: GroupOrder, *, given: NewOrder | None = None) -> GroupView:
    """Store a group with its members; new ones are made, in transactions of at most ``MOST_AT_ONCE``.

    Raises: PL-C161 (the name is taken), PL-C162 (the name is not allowed), PL-C163 (new members without a blueprint),
    PL-C010, PL-C160, and the errors of ``prepare_members``; then nothing is stored.
    """
    _raise_if_no_name(name)
    if ctx.store.groups.find(name) is not None:
        raise _taken(name)
    label_syntax.parse_labels(order.labels, may_be_key=False)
    blueprint = _lasting(order.blueprint or "")
    folders = [str(Path(folder).absolute()) for folder in order.plugin_folders]
    new = NewGroup(name, order.description, blueprint, folders, order.inputs, tuple(order.labels))
    joining = _existing(ctx, order)
    prepared = _prepared(ctx, new, order.members, 0)
    stored = altered(new, inputs=_sealed(ctx, new))
    portions = [*in_portions(prepared.members, MOST_AT_ONCE)] or [()]
    with ctx.store.as_one(given) as answer:
        answer["group"] = name
        made = [ctx.store.create_deployment(one)[0] for one in portions[0]]
        row = ctx.store.groups.create(stored, ctx.actor)
        if row is None:
            raise _taken(name)
        ctx.store.groups.join(row, [*made, *joining], made=len(made))
    _make(ctx, row, portions[1:])
    return group_view(ctx, row, prepared.warnings)


@once("extend_group", _shown_again)
def extend_group(ctx: RequestContext, name: str, order: GroupOrder, *, given: NewOrder | None = None) -> GroupView:
    """Add members to a group: deployments, or new ones of its blueprint, or of another one that is named.

    ``order.inputs`` override the group's inputs for these new members, and ``order.labels`` are added to its labels for
    them. Raises: PL-C160, PL-C163, PL-C010, and the errors of ``prepare_members``; then nothing is stored.
    """
    row = find_group(ctx.store, name)
    label_syntax.parse_labels(order.labels, may_be_key=False)
    joining = _existing(ctx, order)
    has_own = order.blueprint is not None
    folders = [str(Path(folder).absolute()) for folder in order.plugin_folders]
    group = NewGroup(
        name,
        row.description,
        _lasting(order.blueprint or "") if has_own else row.blueprint,
        folders or row.plugin_folders,
        {**{key: ctx.vault.unsealed(value) for key, value in row.inputs.items()}, **order.inputs},
        (*row.labels, *order.labels),
    )
    prepared = _prepared(ctx, group, order.members, row.made_count)
    _make(ctx, row, [*in_portions(prepared.members, MOST_AT_ONCE)] or [()], joining, given)
    return group_view(ctx, find_group(ctx.store, name), prepared.warnings)


def shrink_group(
    ctx: RequestContext, name: str, *, deployments: Sequence[str] = (), from_groups: Sequence[str] = ()
) -> GroupView:
    """Remove deployments from a group, by name or those in other groups; the deployments themselves stay.

    Raises: PL-C160, PL-C010, PL-C163 if nothing is named or a named deployment is no member.
    """
    row = find_group(ctx.store, name)
    if not deployments and not from_groups:
        mend = "name the deployments to remove: -d NAME, or --from-group NAME"
        raise problem_error("PL-C163", "no deployment is named that should leave the group", mend)
    members = {member.name: member.number for member in ctx.store.groups.members(row)}
    strange = sorted(one for one in deployments if find_deployment(ctx.store, one, to_change=True).name not in members)
    if strange:
        mend = f"see its members: phaseline groups show {name}"
        raise problem_error("PL-C163", f"{listed(strange)}: not in the group '{name}'", mend)
    leaving = {members[one] for one in deployments}
    for other in from_groups:
        leaving |= {member.number for member in ctx.store.groups.members(find_group(ctx.store, other))}
    ctx.store.groups.leave(row, sorted(leaving))
    return group_view(ctx, find_group(ctx.store, name))


@once("delete_group", _deleted_again)
def delete_group(
    ctx: RequestContext, name: str, *, delete_deployments: bool = False, given: NewOrder | None = None
) -> GroupView:
    """Delete a group, and return it as it was. Its members stay, unless ``delete_deployments`` (GR11).

    Raises: PL-C160; with ``delete_deployments`` PL-C167 while instances of members exist, PL-C131 while other deployments
    read a member, and PL-C016 while an execution of one is open; then nothing is deleted.
    """
    row = find_group(ctx.store, name)
    seen = group_view(ctx, row)
    members = ctx.store.groups.members(row) if delete_deployments else ()
    rows = _rows(ctx, [member.number for member in members])
    _raise_if_used(ctx, name, rows)
    with ctx.store.as_one(given) as answer:
        answer.update(as_dict(seen))
        for one in rows:
            ctx.store.delete_deployment(one.number, ctx.actor)
        ctx.store.groups.remove(row)
    return seen


def _raise_if_used(ctx: RequestContext, name: str, rows: Sequence[DeploymentRow]) -> None:
    """Raise PL-C167 if members may have instances, PL-C131 if deployments outside of the group read one."""
    living = [row.name for row in rows if living_count(ctx.store, row)]
    if living:
        mend = f"remove them first: phaseline groups run {name} uninstall; or delete only the group: omit --delete-deployments"
        raise problem_error("PL-C167", f"instances of {len(living)} members may exist: {listed(living)}", mend)
    besides = frozenset(row.number for row in rows)
    for row in rows:
        if is_read(ctx.store, row):
            touch = blocking_consumers.Touch(None)
            found = blocking_consumers.blocking(ctx.store, row, ctx.store.topology(row.number), touch, besides=besides)
            blocking_consumers.raise_if_read(row, found, "delete")


def _make(
    ctx: RequestContext,
    row: GroupRow,
    portions: Sequence[Sequence[NewDeployment]],
    joining: Sequence[int] = (),
    given: NewOrder | None = None,
) -> None:
    """Store further new members, each portion in one transaction; deployments that join are in that of the first."""
    for portion in portions:
        with ctx.store.as_one(given) as answer:
            answer["group"] = row.name
            made = [ctx.store.create_deployment(one)[0] for one in portion]
            ctx.store.groups.join(row, [*made, *joining], made=len(made))
        given, joining = None, ()  # they are stored with the first portion


def _prepared(ctx: RequestContext, group: NewGroup, members: NewMembers, made_before: int) -> PreparedMembers:
    if not members.count and not members.each:
        return PreparedMembers(())
    if not group.blueprint:
        mend = "name one: --blueprint FILE, or the id of a stored blueprint"
        raise problem_error("PL-C163", "new members need a blueprint", mend)
    return prepare_members(ctx, group, members, made_before)


def _existing(ctx: RequestContext, order: GroupOrder) -> Sequence[int]:
    """Return the numbers of the deployments that an order names. Raises: all of PL-C010, PL-C160 and PL-C163."""
    problems: list[Problem] = []
    numbers: dict[int, None] = {}
    for name in order.deployments:
        try:
            row = find_deployment(ctx.store, name, to_change=True)
        except ProblemsError as error:
            problems += error.problems
            continue
        if row.kind == "resources":
            mend = "resources are selected by expressions: phaseline resources list --filter EXPR"
            problems.append(Problem("PL-C163", f"'{name}' is a cluster of resources, which no group can have", mend))
        numbers[row.number] = None
    for name in order.from_groups:
        try:
            members: Sequence[GroupMember] = ctx.store.groups.members(find_group(ctx.store, name))
        except ProblemsError as error:
            problems += error.problems
            continue
        numbers.update(dict.fromkeys(member.number for member in members))
    if problems:
        raise ProblemsError(problems)
    return list(numbers)


def _rows(ctx: RequestContext, numbers: Sequence[int]) -> Sequence[DeploymentRow]:
    return ctx.store.listings.deployments(DeploymentQuery(numbers=numbers)) if numbers else ()


def _sealed(ctx: RequestContext, group: NewGroup) -> Mapping[str, Value]:
    """Return the inputs of a group as they are stored: secret ones are encrypted."""
    if not group.inputs or not group.blueprint:
        return group.inputs
    hidden = hidden_inputs(blueprint_loading.read(ctx, group.blueprint, group.plugin_folders)[0])
    return {key: ctx.vault.seal(value) if key in hidden else value for key, value in group.inputs.items()}


def _lasting(blueprint: str) -> str:
    """Return the name of a blueprint as it is stored: the whole path of a file, or the name of a stored blueprint."""
    return str(Path(blueprint).absolute()) if blueprint and Path(blueprint).is_file() else blueprint


def _raise_if_no_name(name: str) -> None:
    why = why_no_name(name) if name else "is empty"
    mend = MEND
    if not why and RUN_ID.fullmatch(name):
        why, mend = "is the id of a run", "choose another name"
    if why:
        raise problem_error("PL-C162", f"'{name}' cannot be the name of a deployment group: it {why}", mend)


def _taken(name: str) -> ProblemsError:
    mend = f"choose another name, or add to it: phaseline groups extend {name}"
    return problem_error("PL-C161", f"there is a deployment group '{name}' already", mend)
