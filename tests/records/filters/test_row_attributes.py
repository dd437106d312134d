"""What rows can be filtered by is what stores and lists have (LB3, LB4)."""

from __future__ import annotations

from phaseline.records.filters.row_attributes import ATTRIBUTES, IN_STORE, RULE_ATTRIBUTES
from phaseline.store.sql.estate.row_check_sql import OF_DEPLOYMENTS, OF_EXECUTIONS, OF_SUMMARIES
from phaseline.views.views import DeploymentView


def test_lb4_what_a_store_tests_is_an_attribute_with_a_column() -> None:
    assert IN_STORE["deployments"] == OF_DEPLOYMENTS.keys() | OF_SUMMARIES.keys()
    assert IN_STORE["executions"] == OF_EXECUTIONS.keys()
    assert all(names <= set(ATTRIBUTES[noun]) for noun, names in IN_STORE.items())


def test_lb3_rules_about_deployments_are_tested_by_stores_alone() -> None:
    assert set(RULE_ATTRIBUTES["deployments"]) <= IN_STORE["deployments"]
    assert set(RULE_ATTRIBUTES["blueprints"]) <= set(RULE_ATTRIBUTES["deployments"])


def test_lb10_the_statuses_of_a_view_can_be_filtered_by() -> None:
    statuses = {
        name for name in DeploymentView.__dataclass_fields__ if name.endswith(("_status", "_count", "_instances"))
    }
    assert statuses - {"latest_status"} <= set(ATTRIBUTES["deployments"])
