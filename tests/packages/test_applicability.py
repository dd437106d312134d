"""Limits of roles: those in force, and those that cannot be evaluated."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest
from tests.packages.made import package

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.packages.package import Package
from phaseline.model.problems.problem import ProblemsError
from phaseline.packages.applicability import limits_of
from phaseline.packages.task_serializer import SerializerInput, serialized

FORM = "attributes:\n  size: {type: text, label: S, weight: 1, value: small}\n"


def limited(condition: str, least: str = "2") -> Package:
    roles = f'web: {{name: W, description: D, limits: {{condition: "{condition}", min: {least}}}}}\n'
    return package(5, node_roles=roles, environment_config=FORM)


def models(size: str) -> Mapping[str, object]:
    return {"settings": {"lma": {"size": {"value": size}}}, "cluster": {}}


def test_limits_whose_condition_is_false_are_not_in_force() -> None:
    one = limited("settings:lma.size.value == 'large'")
    assert [each.least for each in limits_of(one, models("large"))[0]] == [2]  # type: ignore[arg-type]  # plain values
    assert limits_of(one, models("small")) == ([], [])  # type: ignore[arg-type]  # plain values


def test_limits_that_cannot_be_evaluated_are_told_and_nothing_is_serialized() -> None:
    whole = limited("settings:lma.size.value == 'large'")
    (role,) = whole.node_roles
    one = altered(whole, node_roles=(altered(role, limits=altered(role.limits, condition="settings:lma ==")),))
    found, problems = limits_of(one, models("large"))  # type: ignore[arg-type]  # plain values
    assert (found, [problem.code for problem in problems]) == ([], ["PL-F069"])

    class Enabled:
        package = one
        folder = ""
        settings = MappingProxyType({"size": "large"})

    with pytest.raises(ProblemsError) as refused:
        serialized([Enabled()], SerializerInput("install", lambda *_: True))
    assert [problem.code for problem in refused.value.problems] == ["PL-F069"]
