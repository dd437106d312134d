"""What users choose for a package: checked by its form, filled in with what the form says."""

from typing import Any

import pytest
from tests.packages.made import package

from phaseline.packages.format.settings_values import chosen

FORM = package(
    5,
    environment_config="""
attributes:
  local: {type: checkbox, label: L, weight: 10, value: true}
  port: {type: number, label: P, weight: 20, value: '80', min: 1, max: 65535}
  mode: {type: select, label: M, weight: 30, value: a, values: [{data: a, label: A}, {data: b, label: B}]}
  url:
    type: text
    label: U
    weight: 40
    value: ''
    regex: {source: '^http', error: An address begins with http}
    restrictions: [{'settings:lma.local.value == true': Only for a server elsewhere}]
  names: {type: text_list, label: N, weight: 50, value: [a], min: 1, max: 2, regex: {source: '^[a-z]+$', error: Small letters}}
  odd: {type: text, label: O, weight: 60, value: '', restrictions: [{condition: 'settings:x.y == 1', action: none}]}
""",
).form


def said(given: dict[str, Any]) -> list[str]:
    return [
        f"{problem.code} {problem.message}; {problem.mend}" for problem in chosen("lma-1.0.2", FORM, given).problems
    ]


def test_what_is_not_chosen_is_as_the_form_says() -> None:
    found = chosen("lma-1.0.2", FORM, {"port": 8080})
    assert found.problems == ()
    assert found.values == {"local": True, "port": 8080, "mode": "a", "url": "", "names": ["a"], "odd": ""}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"local": "yes"}, "PL-F032 lma-1.0.2: setting local: 'yes' is not suitable; use true or false"),
        ({"port": 0}, "PL-F032 lma-1.0.2: setting port: 0 is not suitable; use a whole number from 1 to 65535"),
        ({"port": "80"}, "'80' is not suitable"),
        ({"port": True}, "true is not suitable"),
        ({"mode": "c"}, "'c' is not suitable; use a or b"),
        ({"names": []}, "[] is not suitable; use a list of texts from 1 to 2"),
        ({"names": ["A"]}, '["A"] is not suitable; Small letters'),
        ({"url": 5, "local": False}, "5 is not suitable; An address begins with http"),
        ({"url": {}, "local": False}, "{} is not suitable; use a text, or {get_secret: NAME}"),
        ({"prot": 1}, "PL-F033 lma-1.0.2: setting prot: there is no such setting; known are local, port"),
        ({"url": "http://x"}, "PL-F034 lma-1.0.2: setting url: cannot be set while settings:lma.local.value == true; Only for a server"),
    ],
)  # fmt: skip
def test_what_does_not_suit_is_told(given: dict[str, Any], expected: str) -> None:
    (message,) = said(given)
    assert expected in message


def test_a_setting_can_be_chosen_when_what_disables_it_is_changed_with_it() -> None:
    assert said({"url": "http://x", "local": False, "odd": "1"}) == []


def test_a_restriction_sees_what_others_have_chosen() -> None:
    form = package(
        5,
        environment_config="attributes: {a: {type: text, label: L, weight: 1, value: x, restrictions: ['settings:b.c.value']}}",
    ).form
    assert chosen("lma", form, {"a": "y"}).problems == ()
    assert chosen("lma", form, {"a": "y"}, {"settings": {"b": {"c": {"value": True}}}}).problems != ()


def test_a_package_without_settings_says_so() -> None:
    (problem,) = chosen("lma", package(10).form, {"a": 1}).problems
    assert problem.mend == "the package has no settings"
