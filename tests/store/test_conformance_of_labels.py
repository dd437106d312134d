"""What every store promises (LabelShelf): labels by deployment, each once, found again."""

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.rows.rows import Reshaped, TurnPayload

TEAM, COST, MORE = Label("team", "web"), Label("cost", "5"), Label("team", "ops")


@pytest.fixture
def store(reopen):
    return reopen()


@pytest.fixture
def number(store):
    new = a.deployment()
    labels = {"team": ["web", {"get_secret": "x"}], "cost": ["5"]}
    with store.own("test"):
        return store.create_deployment(altered(new, blueprint=altered(new.blueprint, labels=labels)))[0]


def test_those_of_the_blueprint_are_there_from_the_beginning(store, number):
    assert store.labels.of(number) == [COST, TEAM]
    assert store.labels.of(number + 1) == []


def test_they_are_added_and_removed_each_once(store, number):
    assert store.labels.add(number, [TEAM, MORE, MORE]) == 1
    assert store.labels.of(number) == [COST, MORE, TEAM]
    assert store.labels.remove(number, [MORE, Label("none", "x")]) == 1
    assert store.labels.of(number) == [COST, TEAM]


def test_a_key_stands_for_all_its_values_when_they_are_removed(store, number):
    store.labels.add(number, [MORE])
    assert store.labels.remove(number, [Label("team", "")]) == 2
    assert store.labels.of(number) == [COST]


@pytest.mark.parametrize(
    ("wanted", "is_found"),
    [
        ([TEAM], True),
        ([TEAM, COST], True),
        ([TEAM, TEAM], True),
        ([Label("team", "")], True),
        ([Label("team", ""), TEAM], True),
        ([MORE], False),
        ([TEAM, MORE], False),
        ([Label("none", "")], False),
        ([Label("te'am", '"')], False),
    ],
)
def test_deployments_are_found_that_have_all_of_them(store, number, wanted, is_found):
    assert store.labels.having(wanted) == (frozenset({number}) if is_found else frozenset())


def test_they_outlive_the_one_who_wrote_them(store, number, reopen):
    store.labels.add(number, [MORE])
    store.close()
    assert reopen().labels.of(number) == [COST, MORE, TEAM]


def test_w60_those_of_another_blueprint_come_to_those_that_are_there(store, number):
    before = store.topology(number)
    other = altered(store.blueprint(number), labels={"team": ["ops"], "new": ["x"]})
    row = Reshaped(number, altered(before, blueprint=other), blueprint=other)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(reshaped=(row,))))
    assert store.labels.of(number) == [COST, Label("new", "x"), MORE, TEAM]


def test_a_purge_takes_those_of_deployments_that_are_gone(store, number):
    store.delete_deployment(number)
    a.purge(store, 10**15)
    assert store.labels.of(number) == []
    assert store.labels.having([TEAM]) == frozenset()
