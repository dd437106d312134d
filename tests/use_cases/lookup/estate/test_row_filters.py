"""An expression, a saved filter and rules make one condition (LB3, LB4)."""

from __future__ import annotations

import pytest
from tests.store import builders as a

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.estate import SavedFilter
from phaseline.model.rows.row_queries import AnyOf, RowTest
from phaseline.store.memory.store import MemoryStore
from phaseline.use_cases.lookup.estate.row_filters import condition_of, rules_of

RULES = '[{"key": "env", "values": ["prod"], "operator": "any_of", "type": "label"}]'
PROD = RowTest("env", "is", "prod", is_label=True)


def test_lb4_all_ways_are_joined_and_alternatives_stay_together() -> None:
    store = MemoryStore(a.FakeClock()).of("mine")
    store.filters.add(SavedFilter("deployments", "prod", RULES, 1, ""), a.ANN)
    assert condition_of(store, "deployments") is None
    found = condition_of(store, "deployments", 'id == "a" || id == "b"', ["env=prod"])
    assert found is not None
    assert found.checks == (AnyOf((RowTest("id", "equals", "a"), RowTest("id", "equals", "b"))), PROD)
    saved = condition_of(store, "deployments", "@prod", ["env!=x"])
    assert saved is not None
    assert saved.checks[0] == PROD
    assert [str(rule) for rule in rules_of(store, "deployments", "prod")] == ["env=prod"]


def test_lb4_a_mistake_in_an_expression_is_told_even_with_rules() -> None:
    store = MemoryStore(a.FakeClock()).of("mine")
    for text, code in (("id ==", "PL-R"), ("(id", "PL-R"), ("foo", "PL-C151"), ("@none", "PL-C152")):
        with pytest.raises(ProblemsError) as caught:
            condition_of(store, "deployments", text, ["env=prod"])
        assert caught.value.problems[0].code.startswith(code)
