"""The methods ``client.groups``: many deployments as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.commands.estate.groups import GroupOrder
    from phaseline.use_cases.queries.estate.groups import GroupView


class GroupsNoun(Noun):
    """Deployment groups: named sets of deployments, on which one command acts as on one."""

    def create(
        self,
        name: str,
        *,
        blueprint: str | None = None,
        plugins: Sequence[str] = (),
        inputs: Mapping[str, Value] | None = None,
        count: int = 0,
        each_inputs: str | Sequence[Mapping[str, object]] = (),
        deployments: Sequence[str] = (),
        from_groups: Sequence[str] = (),
        labels: Sequence[str] = (),
        description: str = "",
        allow_missing_providers: bool = False,
    ) -> GroupView:
        """Store a group. ``count`` members are made of the blueprint, and one for each of ``each_inputs``.

        ``each_inputs``: mappings, or a file with them (CSV, JSON lines, YAML). ``deployments`` and the members of
        ``from_groups`` join as they are. All members that are made have the ``labels``.
        """
        order = _order(
            blueprint, plugins, inputs, count, each_inputs, deployments, from_groups, labels, description,
            allow_missing_providers=allow_missing_providers,
        )  # fmt: skip
        return self._call(ops.CREATE_GROUP, name=name, order=order)

    def extend(
        self,
        name: str,
        *,
        blueprint: str | None = None,
        plugins: Sequence[str] = (),
        inputs: Mapping[str, Value] | None = None,
        count: int = 0,
        each_inputs: str | Sequence[Mapping[str, object]] = (),
        deployments: Sequence[str] = (),
        from_groups: Sequence[str] = (),
        labels: Sequence[str] = (),
        allow_missing_providers: bool = False,
    ) -> GroupView:
        """Add members to a group, as ``create`` does. ``blueprint``: another one than the group's, for these only."""
        order = _order(
            blueprint, plugins, inputs, count, each_inputs, deployments, from_groups, labels, "",
            allow_missing_providers=allow_missing_providers,
        )  # fmt: skip
        return self._call(ops.EXTEND_GROUP, name=name, order=order)

    def shrink(self, name: str, *, deployments: Sequence[str] = (), from_groups: Sequence[str] = ()) -> GroupView:
        """Remove deployments, or the members of other groups, from a group; the deployments themselves stay."""
        return self._call(ops.SHRINK_GROUP, name=name, deployments=deployments, from_groups=from_groups)

    def list(self) -> Sequence[GroupView]:
        """Return all groups, by name, without their members."""
        return self._call(ops.LIST_GROUPS)

    def show(self, name: str) -> GroupView:
        """Return one group with its members and their statuses."""
        return self._call(ops.SHOW_GROUP, name=name)

    def delete(self, name: str, *, delete_deployments: bool = False) -> GroupView:
        """Delete a group, and with ``delete_deployments`` its members, too. Return it as it was."""
        return self._call(ops.DELETE_GROUP, name=name, delete_deployments=delete_deployments)


def _order(
    blueprint: str | None,
    plugins: Sequence[str],
    inputs: Mapping[str, Value] | None,
    count: int,
    each: str | Sequence[Mapping[str, object]],
    deployments: Sequence[str],
    from_groups: Sequence[str],
    labels: Sequence[str],
    description: str,
    *,
    allow_missing_providers: bool,
) -> GroupOrder:
    from phaseline.client.estate.member_files import read_members
    from phaseline.use_cases.commands.estate.groups import GroupOrder
    from phaseline.use_cases.prepare.group_members import NewMembers

    members = NewMembers(count, read_members(each) if each else (), allow_missing_providers=allow_missing_providers)
    given = inputs or {}, members, tuple(deployments), tuple(from_groups), tuple(labels), description
    return GroupOrder(blueprint, tuple(plugins), *given)
