"""Read groups with their policies, the policies that act on groups, and the resulting scaling groups (B20, B21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.nodes.scaling import read_properties
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.blueprint import Node, Value
from phaseline.model.blueprint.groups import GroupPolicy, NodeGroup, ScalingGroup, ScalingPolicy, Trigger
from phaseline.model.problems.problem import Place

SCALING = "cloudify.policies.scaling"
"""The only policy type that may act on groups."""


@frozen
class Grouping:
    """Groups, policies and scaling groups of a blueprint, by name."""

    groups: Mapping[str, NodeGroup]
    policies: Mapping[str, ScalingPolicy]
    scaling_groups: Mapping[str, ScalingGroup]


def read_groups(
    sections: MergedSections,
    nodes: Mapping[str, Node],
    properties: Properties,
    functions: FunctionCheck,
    report: ProblemReport,
    *,
    is_sound: bool,
) -> Grouping:
    """Read and check the groups and policies.

    ``nodes`` are the nodes without errors. ``is_sound`` is True if no node contains itself.
    """
    reading = _Reading(sections, properties, functions, report)
    groups = {name: reading.group(name, cast("dict[str, Any]", raw)) for name, raw in sections.of("groups").items()}
    policies = {
        name: reading.policy(name, cast("dict[str, Any]", raw)) for name, raw in sections.of("policies").items()
    }
    scaling = reading.scaling(groups, policies)
    if not scaling:
        return Grouping(groups, policies, {})
    from phaseline.dsl.nodes.group_membership import check_membership  # of which most blueprints need nothing

    members = check_membership(
        scaling, groups, nodes, lambda name: sections.spot("groups", name), report, is_sound=is_sound
    )
    return Grouping(groups, policies, {name: altered(group, members=members[name]) for name, group in scaling.items()})


class _Reading:
    """Reads the groups and policies of one blueprint, and reports what is wrong with them."""

    def __init__(
        self, sections: MergedSections, properties: Properties, functions: FunctionCheck, report: ProblemReport
    ) -> None:
        self._sections = sections
        self._properties = properties
        self._functions = functions
        self._report = report
        self._is_told = False

    def group(self, name: str, fields: Mapping[str, Any]) -> NodeGroup:
        """Read and check one group."""
        spot = self._sections.spot("groups", name)
        templates, groups = self._sections.of("node_templates"), self._sections.of("groups")
        if name in templates:
            message = f"'{name}' is the name of a group and of a node"
            self._report.add("PL-B153", message, "rename one of them", spot, point="key")
        members = cast("list[str]", fields["members"])
        if not members:
            mend = "name at least one node or group, such as 'members: [web]'"
            self._report.add("PL-B015", f"the group '{name}' has no members", mend, spot.at("members"))
        for place, member in enumerate(members):
            is_known = member in templates or member in groups
            if not is_known and not any(
                self._sections.is_broken(part, member) for part in ("node_templates", "groups")
            ):
                mend = self._report.suggest(member, [*templates, *groups], "name a node or a group")
                here = spot.at("members", place)
                self._report.add("PL-B151", f"there is no node or group '{member}' to be a member", mend, here)
        policies = {
            key: self._group_policy(raw, spot.at("policies", key))
            for key, raw in cast("dict[str, Any]", fields.get("policies") or {}).items()
        }
        return NodeGroup(name, tuple(dict.fromkeys(members)), policies)

    def _group_policy(self, fields: Mapping[str, Any], spot: ElementPath) -> GroupPolicy:
        if not self._is_told:
            self._is_told = True
            mend = "they may stay; start workflows yourself, or let your monitoring do it"
            self._report.warn("PL-B018", "policies of groups have no effect: nothing watches events", mend, spot)
        triggers = {
            key: Trigger(
                str(raw["type"]),
                self._completed(raw, "policy_triggers", "parameters", 42, spot.at("triggers", key)),
            )
            for key, raw in cast("dict[str, Any]", fields.get("triggers") or {}).items()
        }
        values = self._completed(fields, "policy_types", "properties", 41, spot)
        return GroupPolicy(str(fields["type"]), values, triggers)

    def _completed(
        self, fields: Mapping[str, Any], section: str, key: str, number: int, spot: ElementPath
    ) -> Mapping[str, Value]:
        """Return the values under ``key``, completed with the defaults of their type in ``section``."""
        given = cast("dict[str, Value]", fields.get(key) or {})
        self._functions.scan(given, spot.at(key), "policy")
        name = str(fields["type"])
        known = self._sections.of(section)
        kind = cast("dict[str, Any] | None", known.get(name))
        if kind is None:
            if not self._sections.is_broken(section, name):
                mend = self._report.suggest(
                    name, known, f"known are {quoted_list(known)}" if known else "there are none"
                )
                message = f"there is no '{name}' in {section}"
                self._report.add("PL-B152", message, mend, spot.at("type"), number=number)
            return given
        schemas = self._properties.schemas(kind.get(key), self._sections.spot(section, name).at(key), None)
        return self._properties.complete(schemas, given, spot.at(key), f"the type '{name}'")

    def policy(self, name: str, fields: Mapping[str, Any]) -> ScalingPolicy:
        """Read and check one policy that acts on groups."""
        spot = self._sections.spot("policies", name)
        kind = str(fields["type"])
        if kind != SCALING:
            message = f"there is no policy type '{kind}' to act on groups"
            self._report.add("PL-B154", message, f"write 'type: {SCALING}'", spot.at("type"))
        groups = self._sections.of("groups")
        targets = tuple(dict.fromkeys(cast("list[str]", fields["targets"])))
        if not targets:
            mend = "name at least one group, such as 'targets: [servers]'"
            self._report.add("PL-B154", f"the policy '{name}' has no targets", mend, spot.at("targets"), number=206)
        for place, target in enumerate(fields["targets"]):
            if target not in groups and not self._sections.is_broken("groups", target):
                mend = self._report.suggest(
                    target, groups, f"groups are {quoted_list(groups)}" if groups else "make one"
                )
                here = spot.at("targets", place)
                self._report.add("PL-B154", f"there is no group '{target}' to be scaled", mend, here, number=205)
        raw = cast("dict[str, Value]", fields.get("properties") or {})
        base = spot.at("properties")
        counts = read_properties(
            raw,
            {key: base.at(key) for key in raw},
            spot,
            self._report,
            lambda value, place: self._functions.scan(value, place, "deployment"),
        )
        return ScalingPolicy(name, kind, targets, *counts)

    def scaling(
        self, groups: Mapping[str, NodeGroup], policies: Mapping[str, ScalingPolicy]
    ) -> dict[str, ScalingGroup]:
        """Return the groups that a policy scales, in order. The later of two policies for one group applies."""
        by: dict[str, ScalingPolicy] = {}
        for policy in policies.values():
            for target in policy.targets:
                if target in by:
                    self._report.warn(
                        "PL-B018",
                        f"the policy '{by[target].name}' has no effect on '{target}', which '{policy.name}' scales too",
                        "leave one of them out",
                        self._sections.spot("policies", by[target].name),
                    )
                by[target] = policy
        return {
            name: ScalingGroup(
                name,
                group.members,
                by[name].default_instances,
                by[name].min_instances,
                by[name].max_instances,
                self._place(name),
            )
            for name, group in groups.items()
            if name in by
        }

    def _place(self, name: str) -> Place:
        document = self._sections.spot("groups", name).document
        line, column = document.marks.get("groups", {}).get(name, (0, 0))
        return Place(document.name, line, column, f"groups.{name}")
