"""Rules of passwords, and what is drawn by them (CO19)."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from phaseline.compat.cloudify.types import password_secret
from phaseline.model.blueprint import composition


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
