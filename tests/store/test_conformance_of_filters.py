"""Every store selects the same deployments by rules and expressions (LB3, LB4, A63)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.records.filters.rule_oracle import ATTRIBUTE_ROWS, LABEL_ROWS, VALUES, is_selected
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.rows.estate import SiteRow
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.ports.store import Store
from phaseline.records.filters.row_condition import RowCondition
from phaseline.records.filters.rule_expressions import expression_of
from phaseline.records.filters.rules import ATTRIBUTE_OPERATORS, LABEL_OPERATORS, WITHOUT_VALUES, FilterRule


def names(store: Store, text: str) -> Sequence[str]:
    """The deployments for which an expression is true, by the store's tests alone, as a list, a page and a count."""
    condition = RowCondition(text, "deployments")
    assert condition.rest is None, text
    query = DeploymentQuery(checks=condition.checks)
    found = [row.name for row in store.listings.deployments(query)]
    assert store.listings.count(query) == len(found)
    rows, total = store.listings.page(altered(query, limit=2))
    assert ([row.name for row in rows], total) == (found[:2], len(found))
    rows, total = store.listings.page(altered(query, limit=2, after=found[0] if found else ""))
    assert ([row.name for row in rows], total) == (found[1:3], len(found))
    return found


def rows_with(store: Store, rows: Sequence[Sequence[str]], *, as_site: bool) -> dict[str, Sequence[str]]:
    """Deployments whose labels ``env``, or whose sites, have these values: {name: values}."""
    made = {f"d{at:02}": values for at, values in enumerate(rows)}
    for value in {value for values in rows for value in values}:
        store.sites.add(SiteRow(value, "", 1, ""), a.ANN)
    for name, values in made.items():
        number, _ = store.create_deployment(altered(a.deployment(name), site=values[0] if as_site and values else ""))
        if not as_site:
            store.labels.add(number, [Label("env", value) for value in values])
        store.labels.add(number, [Label("other", "a")])
    return made


def test_a63_rules_about_labels_select_as_the_oracle_does(store: Store) -> None:
    made = rows_with(store, LABEL_ROWS, as_site=False)
    for operator in LABEL_OPERATORS:
        rule = FilterRule("env", operator, () if operator in WITHOUT_VALUES else VALUES)
        wanted = [name for name, values in made.items() if is_selected(operator, values)]
        assert names(store, expression_of([rule])) == wanted, operator


def test_a63_rules_about_attributes_select_as_the_oracle_does(store: Store) -> None:
    made = rows_with(store, ATTRIBUTE_ROWS, as_site=True)
    for operator in ATTRIBUTE_OPERATORS:
        rule = FilterRule("site_name", operator, () if operator in WITHOUT_VALUES else VALUES, "attribute")
        wanted = [name for name, values in made.items() if is_selected(operator, values)]
        assert names(store, expression_of([rule])) == wanted, operator


@pytest.fixture
def three(store: Store) -> Store:
    """Deployments ``Shop``, ``farm`` and ``\u00c4pfel`` with labels."""
    for name, labels in (("Shop", ["prod", "Test"]), ("farm", ["PROD"]), ("\u00c4pfel", [])):
        number, _ = store.create_deployment(a.deployment(name))
        store.labels.add(number, [Label("env", value) for value in labels])
    return store


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('labels.env == "prod"', ["Shop", "farm"]),
        ('labels.env is "prod"', ["Shop"]),
        ('labels.env != "test"', ["farm"]),
        ('labels.env isnt "Test"', ["farm", "\u00c4pfel"]),
        ('!(labels.env == "prod" || labels.env == "x")', []),
        ('!(labels.env is "prod" && labels.env is "Test")', ["farm", "\u00c4pfel"]),
        ("labels.env is undefined", ["\u00c4pfel"]),
        ('name == "SHOP" || id == "FARM"', ["Shop", "farm"]),
        ('name is "SHOP"', []),
        ('startsWith(name, "\u00c4p")', ["\u00c4pfel"]),
        ('endsWith(name, "rm") || endsWith(name, "fel")', ["farm", "\u00c4pfel"]),
        ('contains(name, "%") || contains(name, "_")', []),
        ('startsWith(name, "") && contains(name, "")', ["Shop", "farm", "\u00c4pfel"]),
        ('endsWith(name, "a name that is longer than all of them")', []),
        ('site_name == "x"', []),
        ('!(site_name == "x")', []),
        ('site_name isnt "x" && blueprint_id is undefined', ["Shop", "farm", "\u00c4pfel"]),
        (
            'kind == "blueprint" && created_by != "nobody" && tenant_name == "default_tenant"',
            ["Shop", "farm", "\u00c4pfel"],
        ),
        ('description == "a shop"', ["Shop", "farm", "\u00c4pfel"]),
        ('display_name == "shop"', ["Shop"]),
        ('status == "not_installed" && installation_status is "inactive"', ["Shop", "farm", "\u00c4pfel"]),
        ('installation_status == "active" || !(status == "not_installed")', []),
        ('name in {"shop", "x"} || "test" in labels.env', ["Shop"]),
    ],
)
def test_lb4_expressions_select_the_same_in_every_store(three: Store, text: str, found: list[str]) -> None:
    assert names(three, text) == found


def test_lb4_summaries_are_tested_whether_they_are_stored_or_computed(three: Store) -> None:
    with three.own("test"):
        three.create_execution(a.execution(1))
        three.refresh_lists()
    assert names(three, 'status == "in_progress"') == ["Shop"]
    assert names(three, 'status != "in_progress"') == ["farm", "\u00c4pfel"]
    assert names(three, 'installation_status == "inactive" && !(status is "in_progress")') == ["farm", "\u00c4pfel"]
