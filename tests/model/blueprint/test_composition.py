"""Rules of passwords, and what is drawn by them (CO19)."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from phaseline.compat.cloudify.types import password_secret
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint import composition
from phaseline.testing.builders import node


def test_a17_ten_thousand_draws_have_the_wanted_characters() -> None:
    chance = random.SystemRandom()
    wanted = {"length": 12, "uppercase": 2, "lowercase": -1, "digits": 3, "symbols": 1}
    for _ in range(10_000):
        text = password_secret.draw_password(wanted, chance)
        counts = {name: sum(one in group for one in text) for name, group in composition.CHARACTER_GROUPS.items()}
        assert len(text) == 12
        assert counts["lowercase"] == 0
        assert counts["uppercase"] >= 2
        assert counts["digits"] >= 3
        assert counts["symbols"] >= 1


@given(st.fixed_dictionaries({name: st.integers(-3, 12) for name in ("length", *composition.CHARACTER_GROUPS)}))
def test_co19_rules_have_a_flaw_exactly_if_no_password_fulfils_them(wanted: dict[str, int]) -> None:
    counts = [wanted[name] for name in composition.CHARACTER_GROUPS]
    possible = wanted["length"] >= 6 and min(counts) >= -1 and max(counts) >= 0
    possible = possible and sum(count for count in counts if count > 0) <= wanted["length"]
    assert (not list(composition.password_flaws(wanted))) is possible
    if possible:
        assert len(password_secret.draw_password(wanted, random.SystemRandom())) == wanted["length"]


def test_co19_a_password_without_any_kind_of_characters_is_wrong() -> None:
    none = dict.fromkeys(composition.CHARACTER_GROUPS, -1)
    assert list(composition.password_flaws(none)) == [
        ("a password has no kind of characters", "give one of the kinds another number than -1")
    ]


def test_co19_values_that_are_functions_are_not_looked_at() -> None:
    assert list(composition.password_flaws({"length": {"get_input": "length"}, "digits": 2_000})) == []


def test_co16_a_component_that_stays_as_it_is_may_be_in_an_update() -> None:
    component = altered(node("database"), type_hierarchy=(composition.COMPONENT,), properties={"secrets": {"a": "b"}})
    changed = altered(component, properties={"secrets": {"a": "c"}})
    assert composition.changed_components([component], [component, node("web")]) == []
    (problem,) = composition.changed_components([component], [changed])
    assert (
        problem.message
        == "the component 'database' would get another 'secrets', and no update changes what it has made"
    )
