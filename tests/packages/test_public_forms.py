"""Forms that public packages of Fuel have, and that the ancestor's server takes."""

from __future__ import annotations

import pytest
from tests.packages.made import codes, package

SETTING = "attributes: {{a: {{type: text, label: l, weight: 1, value: x, {more}}}}}"


def test_empty_limits_of_a_role_are_no_limits() -> None:
    roles = package(3, node_roles="web:\n  name: Web\n  description: d\n  limits:\n").node_roles
    assert [(role.id, role.limits.min, role.limits.max) for role in roles] == [("web", None, None)]


def test_a_regex_without_a_message_says_the_pattern() -> None:
    (setting,) = package(2, environment_config=SETTING.format(more="regex: {source: '^[a-z]+$'}")).form.settings
    assert (setting.pattern, setting.pattern_error) == ("^[a-z]+$", "")


def test_an_empty_description_is_none() -> None:
    (setting,) = package(2, environment_config=SETTING.format(more="description: null")).form.settings
    assert setting.description == ""


@pytest.mark.parametrize("more", ["description: 5", "regex: {error: e}", "regex: {source: a, error: 5}"])
def test_other_values_in_their_place_are_still_refused(more: str) -> None:
    assert [code for code in codes(2, environment_config=SETTING.format(more=more)) if code != "PL-F050"] in (
        ["PL-F004"],
        ["PL-F005"],
    )
