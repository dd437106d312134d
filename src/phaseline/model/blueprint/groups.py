"""Groups of a blueprint: members, policies, and the groups that are scaled as one (B20, B21)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import NOWHERE, Place

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


@frozen
class Trigger:
    """A trigger of a group's policy. It is checked but has no effect, because Cloudify itself dropped its policy engine."""

    type: str
    parameters: Mapping[str, Value] = field(default_factory=dict)


@frozen
class GroupPolicy:
    """A policy within a group. It is checked but has no effect."""

    type: str
    properties: Mapping[str, Value] = field(default_factory=dict)
    triggers: Mapping[str, Trigger] = field(default_factory=dict)


@frozen
class NodeGroup:
    """A group: nodes and other groups under one name, each member once."""

    name: str
    members: tuple[str, ...]
    policies: Mapping[str, GroupPolicy] = field(default_factory=dict)


@frozen
class ScalingPolicy:
    """A policy that makes its target groups scaling groups. The counts may be intrinsic functions."""

    name: str
    type: str
    targets: tuple[str, ...]
    default_instances: Value = 1
    min_instances: Value = 0
    max_instances: Value = -1


@frozen
class ScalingGroup:
    """A group whose members are scaled together. Members that are contained in another member are left out.

    The counts may be intrinsic functions until inputs are given.
    """

    name: str
    members: tuple[str, ...]
    default_instances: Value = 1
    min_instances: Value = 0
    max_instances: Value = -1
    place: Place = NOWHERE
