"""Rules become expressions, so that there is one evaluator: every operator against an oracle (A63)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.records.filters.rule_oracle import ATTRIBUTE_ROWS, LABEL_ROWS, VALUES, is_selected

from phaseline.model.rows.row_queries import RowTest, verdict_of
from phaseline.records.filters.row_condition import RowCondition
from phaseline.records.filters.rule_expressions import expression_of
from phaseline.records.filters.rules import ATTRIBUTE_OPERATORS, LABEL_OPERATORS, WITHOUT_VALUES, FilterRule


def selected(rule: FilterRule, values: Sequence[str]) -> bool:
    condition = RowCondition(expression_of([rule]), "deployments")
    assert condition.rest is None

    def values_of(test: RowTest) -> Sequence[str]:
        assert (test.name, test.is_label) == (rule.key, rule.type == "label")
        return values

    return all(verdict_of(check, values_of) is True for check in condition.checks)


@pytest.mark.parametrize("values", LABEL_ROWS)
@pytest.mark.parametrize("operator", LABEL_OPERATORS)
def test_a63_every_operator_of_labels_on_absent_and_many_values(operator: str, values: Sequence[str]) -> None:
    rule = FilterRule("env", operator, () if operator in WITHOUT_VALUES else VALUES)
    assert selected(rule, values) is is_selected(operator, values)


@pytest.mark.parametrize("values", ATTRIBUTE_ROWS)
@pytest.mark.parametrize("operator", ATTRIBUTE_OPERATORS)
def test_a63_every_operator_of_attributes(operator: str, values: Sequence[str]) -> None:
    rule = FilterRule("site_name", operator, () if operator in WITHOUT_VALUES else VALUES, "attribute")
    assert selected(rule, values) is is_selected(operator, values)


def test_lb4_no_rules_select_all_rows() -> None:
    assert RowCondition(expression_of([]), "deployments").checks == ()
