"""Which deployments Components have made, directly or through others, and that they do not protect these (CO3, DP7)."""

from __future__ import annotations

import pytest
from tests.calls.deployments.estates import Estate
from tests.store import builders as a

from phaseline.calls.deployments.blocking_consumers import Touch, blocking
from phaseline.calls.deployments.estate.inner_deployments import made_below, makers_of, outer_of_execution
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.causes import CauseKey


@pytest.fixture
def estate() -> Estate:
    """``app`` has made ``db``, which has made ``low``; ``plain`` was made by a user. All have one parent label more."""
    found = Estate()
    above = found.add("app")
    for name in ("db", "low"):
        run = found.store.create_execution(altered(a.execution(), deployment=above.number), beside=lambda _row: True)
        above = found.add(name, labels={"csys-obj-parent": ["app"]}, cause=CauseKey("component", run.number, "1/0/0"))
        inner = altered(a.execution(), deployment=above.number, cause=CauseKey("component", run.number, "1/1/0"))
        found.store.create_execution(inner, beside=lambda _row: True)
    found.add("plain", labels={"csys-obj-parent": ["app"]})
    return found


def number(estate: Estate, name: str) -> int:
    row = estate.store.of("default_tenant").deployment(name)
    assert row is not None
    return row.number


def test_co3_the_maker_of_a_deployment_is_the_one_above_it(estate: Estate) -> None:
    app, db, low, plain = (number(estate, name) for name in ("app", "db", "low", "plain"))
    assert makers_of(estate.store, [app, db, low, plain]) == {db: app, low: db}
    assert makers_of(estate.store, [app, plain]) == {}


@pytest.mark.parametrize(("top", "below"), [("app", {"db", "low"}), ("db", {"low"}), ("low", set()), ("plain", set())])
def test_co3_what_is_below_was_made_directly_or_through_others(estate: Estate, top: str, below: set[str]) -> None:
    every = {number(estate, name): name for name in ("app", "db", "low", "plain")}
    assert {every[one] for one in made_below(estate.store, every, {number(estate, top)})} == below


def test_co6_an_execution_has_the_outer_one_that_started_it(estate: Estate) -> None:
    outer = {(row.deployment_name, outer_of_execution(estate.store, row.number)) for row in estate.store.executions()}
    assert outer == {("app", 0), ("db", number(estate, "app")), ("db", 0), ("low", number(estate, "db"))}


def test_dp7_what_components_have_made_goes_down_with_their_outer_and_does_not_block_it(estate: Estate) -> None:
    store = estate.store.of("default_tenant")
    app = store.deployment("app")
    assert app is not None
    found = blocking(store, app, store.topology(app.number), Touch(None))
    assert [one.name for one in found] == ["plain"]
