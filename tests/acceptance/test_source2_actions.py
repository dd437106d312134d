"""Source document 2, "all stack actions … create, update, delete, abandon, and adopt": hooks round ours (H25-H27, H44)."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.acceptance.test_decision15_in_a_blueprint import Shop as Resources
from tests.acceptance.test_source2_classes import House

import phaseline

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins: {made: {executor: central_deployment_agent, install: false}}
node_templates:
  db:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.validation: {check_status: made.made.check}
  web:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.depends_on, target: db}]
"""
PLUGIN = """
from pathlib import Path

from phaseline import operation


@operation(repeatable=True)
def check(item):
    if Path(__file__).with_name("gone").exists():
        item.fail("it is not there")
"""


class Actions:
    """A house with one recording class and an installed shop."""

    def __init__(self, house: House, **fails: str) -> None:
        self.house = house
        house.hook("A", **({"fails": fails} if fails else {}))
        (house.folder / "blueprint.yaml").write_text(BLUEPRINT)
        (house.folder / "made.py").write_text(PLUGIN)
        self.shop: phaseline.Phaseline = house.open("memory:")
        self.calls()

    def install(self) -> None:
        assert self.shop.executions.install(str(self.house.folder / "blueprint.yaml"), "shop").is_good
        self.calls()

    def calls(self) -> list[str]:
        """What A was called with since the last look."""
        found = self.house.calls()
        self.house.log.unlink(missing_ok=True)
        return found

    def document(self, document: Any, name: str = "left.json") -> str:
        (self.house.folder / name).write_text(json.dumps(document))
        return str(self.house.folder / name)

    def gone(self) -> None:
        (self.house.folder / "gone").touch()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def actions(house: House):
    made = Actions(house)
    made.install()
    yield made
    made.shop.close()


def pair(action: str) -> list[str]:
    return [f"pre A {action}", f"post A {action} False completed"]


def test_h25_a_second_suspend_calls_nobody_and_every_other_action_is_one_pair(actions: Actions) -> None:
    shop = actions.shop
    assert shop.executions.start("suspend", "shop").is_good
    assert actions.calls() == pair("SUSPEND")
    again = shop.executions.start("suspend", "shop")
    assert (again.is_good, again.reason, actions.calls()) == (True, "nothing runs that could be suspended", [])
    assert shop.executions.start("resume", "shop").is_good
    assert actions.calls() == pair("RESUME")
    assert shop.executions.start("check", "shop").is_good
    assert actions.calls() == pair("CHECK")
    assert shop.snapshots.create("shop", "monday").is_good
    assert actions.calls() == pair("SNAPSHOT")
    assert shop.snapshots.restore("shop", "monday").is_good
    assert actions.calls() == pair("RESTORE")
    assert shop.snapshots.delete("shop", "monday").is_good
    assert actions.calls() == []


def test_h26_a_native_class_is_told_of_an_abandon_while_the_deployment_is_there(actions: Actions) -> None:
    shop = actions.shop
    assert shop.deployments.abandon("shop").is_good
    assert actions.calls() == pair("ABANDON")
    assert len(shop.abandoned.list()) == 1
    assert shop.deployments.list().total == 0


def test_h26_who_refuses_an_abandon_keeps_the_deployment(house: House) -> None:
    house.hook("B", fails={"pre": "not today"}, actions=["ABANDON"])
    actions = Actions(house)
    actions.install()
    view = actions.shop.deployments.abandon("shop")
    assert (view.status, view.reason) == ("failed", "pre hook B: not today")
    assert actions.calls() == ["pre A ABANDON", "pre B ABANDON", "post A ABANDON True pre_failed"]
    assert actions.shop.deployments.list().items[0].states == {"started": 2}
    assert actions.shop.abandoned.list() == []
    actions.shop.close()


def test_h15_an_abandon_whose_post_fails_has_written_the_document_and_forgotten_nothing(house: House) -> None:
    house.hook("A", fails={"post": "no"}, actions=["ABANDON"])
    actions = Actions(house)
    actions.install()
    shop = actions.shop
    view = shop.deployments.abandon("shop")
    assert (view.status, view.is_good) == ("failed", False)
    assert "post hook A: no" in view.reason
    assert len(shop.abandoned.list()) == 1
    assert [one.name for one in shop.deployments.list().items] == ["shop"]
    shop.close()


@pytest.mark.parametrize("is_gone", [False, True])
def test_h27_an_adoption_is_one_pair_with_the_truth(actions: Actions, *, is_gone: bool) -> None:
    shop = actions.shop
    left = shop.deployments.abandon("shop")
    document = actions.document(shop.abandoned.show(left.id))
    actions.calls()
    if is_gone:
        actions.gone()
    assert shop.deployments.adopt(document).is_good is not is_gone
    told = "True failed" if is_gone else "False completed"
    assert actions.calls() == ["pre A ADOPT", f"post A ADOPT {told}"]


def test_h27_what_was_adopted_in_vain_is_let_go_of_as_an_action_of_its_own(actions: Actions) -> None:
    from phaseline.use_cases.adopting import AdoptOrder, adopt
    from phaseline.use_cases.installing import Manner

    shop = actions.shop
    left = shop.deployments.abandon("shop")
    document = actions.document(shop.abandoned.show(left.id))
    actions.calls()
    actions.gone()
    view = adopt(shop.place, AdoptOrder(document), manner=Manner(on_failure="rollback"))
    assert (view.status, shop.deployments.list().total) == ("failed", 0)
    assert actions.calls() == ["pre A ADOPT", "post A ADOPT True failed", *pair("ROLLBACK")]


def test_s10_an_abandon_is_refused_while_an_operation_runs_unless_it_is_canceled_first(actions: Actions) -> None:
    from phaseline import ProblemsError
    from phaseline.model.execution import Request
    from phaseline.use_cases.surrounding import new_execution

    shop = actions.shop
    store = shop.place.store
    (row,) = store.deployments()
    running = store.create_execution(new_execution(shop.place, row.number, Request("check_status")), asks=True)
    with pytest.raises(ProblemsError, match="PL-C016"):
        shop.deployments.abandon("shop")
    assert shop.deployments.abandon("shop", force=True).is_good
    found = store.execution(running.id)
    assert found is not None
    assert found.status == "canceled"
    assert (shop.deployments.list().total, len(shop.abandoned.list())) == (0, 1)


def test_s10_what_waits_behind_an_abandon_does_not_begin_on_what_is_forgotten(actions: Actions) -> None:
    """An uninstall that did would take away what is outside."""
    from phaseline.model.execution import Request
    from phaseline.use_cases.surrounding import new_execution

    shop = actions.shop
    store = shop.place.store
    (row,) = store.deployments()
    asked = [Request("abandon"), Request("uninstall"), Request("check_status")]
    rows = [
        store.create_execution(new_execution(shop.place, row.number, one), asks=True, beside=lambda _: True)
        for one in asked
    ]
    shop.engine.run()
    found = [store.execution(one.id) for one in rows]
    assert [one.status.value for one in found if one is not None] == ["completed", "canceled", "canceled"]
    assert actions.calls() == pair("ABANDON")


def test_s10_a_deployment_is_not_adopted_without_a_document(actions: Actions) -> None:
    from phaseline import ProblemsError

    with pytest.raises(ProblemsError, match="PL-P042"):
        actions.shop.executions.start("adopt", "shop")


def damaged(value: Any, chance: Random) -> Any:
    """The value with something in it that nobody has written so."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        if chance.random() < 0.2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: damaged(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        return [*value[:at], damaged(value[at], chance), *value[at + 1 :]]
    return chance.choice([None, -1, 10**12, "", "db", {}, [], True, {"a": [1]}, value])


def test_h45_a_damaged_document_is_refused_and_breaks_nothing(actions: Actions) -> None:
    from phaseline import ProblemsError
    from phaseline.use_cases.adopting import AdoptOrder, plan_adoption

    shop, chance = actions.shop, Random(7)
    whole = shop.deployments.export("shop")
    refused = 0
    for _ in range(60):
        path = actions.document(damaged(whole, chance), "damaged.json")
        try:
            plan_adoption(shop.place, AdoptOrder(path, "other"))
        except ProblemsError:
            refused += 1
    assert refused > 8


def test_h44_nodes_on_paths_come_back_in_their_states_with_what_their_phases_know(tmp_path: Path) -> None:
    shop = Resources(tmp_path)
    shop.phase(
        "Make",
        "Allocation",
        body='handler.getResourcePhaseData(node).setInteger("Seen", 1); handler.setCompleted(node)',
    )
    shop.phase("Tune", "Installation")
    shop.phase("Free", "Deallocation")
    assert shop.install().status == "completed"
    states, known = shop.states(), shop.properties("server")
    before = shop.phaseline.deployments.export("shop")
    assert '"Seen": 1' in json.dumps(before["resources"])
    left = shop.phaseline.deployments.abandon("shop")
    (tmp_path / "left.json").write_text(json.dumps(shop.phaseline.abandoned.show(left.id)))
    shop.said_file.unlink()
    assert shop.phaseline.deployments.adopt(str(tmp_path / "left.json")).is_good
    assert (shop.said, shop.states(), shop.properties("server")) == ([], states, known)
    after = shop.phaseline.deployments.export("shop")
    assert (after["resources"], after["phaseline"]) == (before["resources"], before["phaseline"])
    assert shop.phaseline.executions.uninstall("shop").status == "completed"
    assert "Free server server" in shop.said
    shop.phaseline.close()
