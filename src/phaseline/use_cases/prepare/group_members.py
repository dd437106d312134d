"""New members of a deployment group: their names, inputs and instances, all checked before any is stored (GR2)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.model.rows.groups import DEFAULT_TEMPLATE, is_distinct, name_from
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.loading import blueprint_loading, deployment_rows
from phaseline.use_cases.prepare import deployment_spec

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.rows.groups import NewGroup
    from phaseline.model.rows.rows import NewDeployment
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint

T = TypeVar("T")
MOST_MEMBERS = 100_000
"""Most members that one command makes."""
NAME_KEY = "id"
"""What names a new member among its inputs, unless its blueprint has an input of this name."""


@frozen
class MemberInputs:
    """The inputs of one new member. ``place`` is where they are written.

    ``are_texts``: they come from a format that has only texts, so a number is read if the type of the input requires it.
    """

    inputs: Mapping[str, Value] = field(default_factory=dict)
    place: Place = Place()
    are_texts: bool = False


@frozen
class NewMembers:
    """New members to be made: ``count`` with equal inputs, then one for each of ``each``."""

    count: int = 0
    each: Sequence[MemberInputs] = ()
    runtime_only: bool = False
    yes_many: bool = False
    allow_missing_providers: bool = False

    def __len__(self) -> int:
        """Return the number of members."""
        return self.count + len(self.each)


@frozen
class PreparedMembers:
    """Checked new members, and warnings that all of them share."""

    members: Sequence[NewDeployment]
    warnings: Sequence[Problem] = ()


def prepare_members(ctx: RequestContext, group: NewGroup, wanted: NewMembers, made_before: int) -> PreparedMembers:
    """Return the new members of a group. ``group`` has its inputs in clear; ``made_before``: number of its former ones.

    Raises: ``ProblemsError`` with all mistakes, each with the line of its inputs (A45); PL-C165 for a template without a
    variable part, PL-C166 for a name that two members would have, PL-S010 for a name that is taken.
    """
    if not 0 <= wanted.count <= MOST_MEMBERS or len(wanted) > MOST_MEMBERS:
        message = f"{len(wanted) if wanted.count >= 0 else wanted.count} new members are asked for"
        raise problem_error("PL-C163", message, f"ask for 1 to {MOST_MEMBERS:,} at a time")
    load = _Loading(ctx, group, wanted)
    problems: list[Problem] = []
    loaded: list[tuple[MemberInputs, LoadedBlueprint]] = []
    for one in (*([MemberInputs()] * wanted.count), *wanted.each):
        try:
            loaded.append((one, load.of(one)))
        except ProblemsError as error:
            problems += [_at(problem, one.place) for problem in error.problems]
            if not one.place.line and not wanted.each:
                break  # all others have the same mistakes
    names = _names(ctx, group, loaded, made_before, problems)
    if problems:
        raise ProblemsError(problems)
    now = ctx.clock.now()
    checked: Blueprint | None = None
    members: list[NewDeployment] = []
    warnings: dict[str, Problem] = {}
    for name, (_, found) in zip(names, loaded, strict=True):
        if found.blueprint is not checked:
            checked = found.blueprint
            deployment_rows.raise_if_secrets_missing(ctx, checked)
            warnings.update((str(one), one) for one in found.warnings if "id_template" not in one.message)
        more = deployment_spec.provider_warnings(
            ctx, name, found.blueprint, allow_missing=wanted.allow_missing_providers
        )
        warnings.update((str(one), one) for one in more)
        members.append(deployment_rows.new_deployment(ctx, name, found, now))
    return PreparedMembers(members, tuple(warnings.values()))


class _Loading:
    """Loads the blueprint of a group for one member after the other; labels of the group are added to the blueprint's."""

    def __init__(self, ctx: RequestContext, group: NewGroup, wanted: NewMembers) -> None:
        """Read the files of the blueprint. Raises: ``ProblemsError`` with all its problems."""
        self._inputs, self._labels = group.inputs, group.labels
        self._loaders = [
            blueprint_loading.loader(
                ctx, group.blueprint, group.plugin_folders, yes_many=wanted.yes_many,
                runtime_only=wanted.runtime_only, auto_correct=are_texts,
            )
            for are_texts in (False, True)
        ]  # fmt: skip
        blueprint, _ = blueprint_loading.read(ctx, group.blueprint, group.plugin_folders)
        self._names_members = NAME_KEY not in blueprint.inputs
        self._labelled: tuple[Blueprint, Blueprint] | None = None

    def of(self, member: MemberInputs) -> LoadedBlueprint:
        """Return the blueprint with the instances of one member. Raises: ``ProblemsError``."""
        own = {**self._inputs, **member.inputs}
        if self._names_members:
            own.pop(NAME_KEY, None)
        return self._with_labels(self._loaders[member.are_texts](own))

    def _with_labels(self, found: LoadedBlueprint) -> LoadedBlueprint:
        if not self._labels:
            return found
        if self._labelled is None or self._labelled[0] is not found.blueprint:
            self._labelled = found.blueprint, deployment_spec.with_given(found, self._labels).blueprint
        blueprint = self._labelled[1]  # one object for all that share it: it is stored as one text
        return altered(found, blueprint=blueprint, topology=altered(found.topology, blueprint=blueprint))


def _at(problem: Problem, place: Place) -> Problem:
    """Return a problem with the place of the inputs that have it."""
    return altered(problem, place=place) if place.file or place.line else problem


def _names(
    ctx: RequestContext,
    group: NewGroup,
    loaded: Sequence[tuple[MemberInputs, LoadedBlueprint]],
    made_before: int,
    problems: list[Problem],
) -> Sequence[str]:
    """Return the names of new members; add PL-C166, PL-C021 and PL-S010 to ``problems``. Raises: PL-C165."""
    names: list[str] = []
    given: dict[str, MemberInputs] = {}
    taken = {row.name for row in ctx.store.listings.deployments(DeploymentQuery())}
    for at, (member, found) in enumerate(loaded, made_before + 1):
        name = _given_name(member, found.blueprint) or _made_name(group, found.blueprint, at)
        try:
            blueprint_loading.deployment_name(group.blueprint, name)
        except ProblemsError as error:
            problems += [_at(problem, member.place) for problem in error.problems]
        if name in given:
            mend = "give each line another id, or leave the column out"
            problems.append(Problem("PL-C166", f"two members would be called '{name}'", mend, member.place))
        elif name in taken:
            mend = "choose another id, or delete the other deployment: phaseline deployments delete NAME"
            problems.append(Problem("PL-S010", f"there is a deployment '{name}' already", mend, member.place))
        given[name] = member
        names.append(name)
    return names


def _given_name(member: MemberInputs, blueprint: Blueprint) -> str:
    name = member.inputs.get(NAME_KEY) if NAME_KEY not in blueprint.inputs else None
    return "" if name is None else str(name)


def _made_name(group: NewGroup, blueprint: Blueprint, number: int) -> str:
    """Return the name of the member with this number, from the template of its blueprint. Raises: PL-C165."""
    template = str(blueprint.deployment_settings.get("id_template") or DEFAULT_TEMPLATE)
    if not is_distinct(template):
        mend = "put {uuid} or {count} into deployment_settings.id_template of the blueprint"
        raise problem_error("PL-C165", f"the template '{template}' would give all members one name", mend)
    own_name = blueprint_loading.deployment_name(group.blueprint, None)
    values = {"uuid": str(uuid.uuid4()), "count": str(number), "group_id": group.name, "blueprint_id": own_name}
    return name_from(template, values)


def in_portions(members: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield members by ``size``, in their order."""
    for first in range(0, len(members), size):
        yield members[first : first + size]
