"""Source document 2, "all stack actions … create, update, delete, abandon, and adopt": hooks round ours (H25-H27, H44)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.acceptance.test_decision15_in_a_blueprint import Shop as Resources
from tests.acceptance.test_source2_classes import House

import phaseline
from phaseline.embedded.follow import follow
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.prepare.stack_files import MOST_BYTES

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


def test_d41_a_delete_with_force_is_an_abandonment_with_its_hooks(actions: Actions) -> None:
    shop = actions.shop
    assert shop.deployments.delete("shop", force=True).name == "shop"
    assert actions.calls() == pair("ABANDON")
    assert len(shop.abandoned.list()) == 1
    assert shop.deployments.list().total == 0


def test_d41_who_refuses_a_delete_with_force_keeps_the_deployment(house: House) -> None:
    house.hook("B", fails={"pre": "not today"}, actions=["ABANDON"])
    actions = Actions(house)
    actions.install()
    with pytest.raises(ProblemsError, match="pre hook B: not today") as raised:
        actions.shop.deployments.delete("shop", force=True)
    assert [problem.code for problem in raised.value.problems] == ["PL-C015"]
    assert actions.shop.deployments.list().items[0].states == {"started": 2}
    actions.shop.close()


def test_d41_a_delete_of_what_is_uninstalled_calls_no_hook(actions: Actions) -> None:
    actions.shop.executions.uninstall("shop")
    assert actions.calls() == pair("DELETE")
    actions.shop.deployments.delete("shop", force=True)
    assert actions.calls() == [], "calls are told once"
    assert actions.shop.abandoned.list() == []


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
    from phaseline.use_cases.commands.adopt import AdoptOrder, adopt
    from phaseline.use_cases.prepare.options import ExecutionOptions

    shop = actions.shop
    left = shop.deployments.abandon("shop")
    document = actions.document(shop.abandoned.show(left.id))
    actions.calls()
    actions.gone()
    view = follow(shop.ctx, adopt(shop.ctx, AdoptOrder(document), manner=ExecutionOptions(on_failure="rollback")))
    assert (view.status, shop.deployments.list().total) == ("failed", 0)
    assert actions.calls() == ["pre A ADOPT", "post A ADOPT True failed", *pair("ROLLBACK")]


def test_s10_an_abandon_is_refused_while_an_operation_runs_unless_it_is_canceled_first(actions: Actions) -> None:
    from phaseline import ProblemsError
    from phaseline.model.execution.execution import Request
    from phaseline.use_cases.prepare.pre_post import new_execution

    shop = actions.shop
    store = shop.ctx.store
    (row,) = store.deployments()
    running = store.create_execution(new_execution(shop.ctx, row.number, Request("check_status"))[0], asks=True)
    with pytest.raises(ProblemsError, match="PL-C016"):
        shop.deployments.abandon("shop")
    assert shop.deployments.abandon("shop", force=True).is_good
    found = store.execution(running.id)
    assert found is not None
    assert found.status == "canceled"
    assert (shop.deployments.list().total, len(shop.abandoned.list())) == (0, 1)


def test_s10_what_waits_behind_an_abandon_does_not_begin_on_what_is_forgotten(actions: Actions) -> None:
    """An uninstall that did would take away what is outside."""
    from phaseline.model.execution.execution import Request
    from phaseline.use_cases.prepare.pre_post import new_execution

    shop = actions.shop
    store = shop.ctx.store
    (row,) = store.deployments()
    asked = [Request("abandon"), Request("uninstall"), Request("check_status")]
    rows = [
        store.create_execution(new_execution(shop.ctx, row.number, one)[0], asks=True, beside=lambda _: True)
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
    from phaseline.use_cases.commands.adopt import AdoptOrder, plan_adoption

    shop, chance = actions.shop, Random(7)
    whole = shop.deployments.export("shop")
    refused = 0
    for _ in range(60):
        path = actions.document(damaged(whole, chance), "damaged.json")
        try:
            plan_adoption(shop.ctx, AdoptOrder(path, "other"))
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
    for found in (before, after):
        del found["phaseline"]["files"]  # others write into the folder meanwhile
    assert (after["resources"], after["phaseline"]) == (before["resources"], before["phaseline"])
    assert shop.phaseline.executions.uninstall("shop").status == "completed"
    assert "Free server server" in shop.said
    shop.phaseline.close()


# the files of a document


SCRIPTED = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml, more/inputs.yaml]
node_templates:
  db:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.validation: {check_status: run.sh}}
outputs: {size: {value: {get_input: size}}}
"""
BINARY = bytes(range(256))


def alone(tmp_path: Path, *, is_stored: bool = False, way: str = "abandon") -> tuple[Path, dict[str, Any]]:
    """A document of a deployment whose folder and store are gone, and what its outputs were."""
    folder = tmp_path / "shop"
    (folder / "more").mkdir(parents=True)
    (folder / "blueprint.yaml").write_text(SCRIPTED)
    (folder / "more" / "inputs.yaml").write_text("inputs: {size: {default: 3}}\n")
    (folder / "notes.txt").write_text("")
    (folder / "logo.png").write_bytes(BINARY)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    url = f"sqlite:///{folder}/store.db"
    with phaseline.open(url) as shop:
        file = str(folder / "blueprint.yaml")
        if is_stored:
            file = str(shop.blueprints.upload(file, "wares").blueprint)
        assert shop.executions.install(file, "shop", plugins=[str(folder)]).is_good
        found = dict(shop.deployments.outputs("shop"))
        document = shop.deployments.export("shop")
        if way == "abandon":
            assert document["files"], "there are some"
            (folder / "former.json").write_text(json.dumps(document))
            document = shop.abandoned.show(shop.deployments.abandon("shop").id)
    (tmp_path / "left.json").write_text(json.dumps(document))
    shutil.rmtree(folder)
    return tmp_path / "left.json", found


@pytest.mark.parametrize("way", ["export", "abandon"])
@pytest.mark.parametrize("is_stored", [False, True])
def test_h44_a_document_alone_is_enough_to_adopt_on_another_store(tmp_path: Path, way: str, *, is_stored: bool) -> None:
    left, outputs = alone(tmp_path, is_stored=is_stored, way=way)
    files = json.loads(left.read_text())["files"]
    assert files["more/inputs.yaml"] == "inputs: {size: {default: 3}}\n"
    assert set(files) == {"blueprint.yaml", "more/inputs.yaml", "notes.txt", "logo.png", "run.sh"}
    with phaseline.open(f"sqlite:///{tmp_path}/other.db") as other:
        assert other.deployments.adopt(str(left)).is_good, "its check was found and called"
        assert dict(other.deployments.outputs("shop")) == outputs
        (stored,) = other.blueprints.list()
        assert (stored.blueprint.id, [one.name for one in stored.users]) == ("wares" if is_stored else "shop", ["shop"])
        row = other.ctx.store.deployment("shop")
        assert row is not None
        folder = Path(row.code.blueprint_folder)
        assert folder.is_relative_to(tmp_path)
        assert row.code.plugin_folders == (() if is_stored else (str(folder),))
        assert (folder / "logo.png").read_bytes() == BINARY
        assert os.access(folder / "run.sh", os.X_OK)
        assert not os.access(folder / "notes.txt", os.X_OK)
        again = other.deployments.export("shop")
        assert again["files"] == files


def test_h44_other_inputs_are_read_with_the_files_of_the_document(tmp_path: Path) -> None:
    from phaseline.use_cases.commands.adopt import AdoptOrder, plan_adoption

    left, _ = alone(tmp_path)
    with phaseline.open(f"sqlite:///{tmp_path}/other.db") as other:
        plan_adoption(other.ctx, AdoptOrder(str(left)))
        assert len(other.blueprints.list()) == 0, "a plan stores nothing"
        assert other.deployments.adopt(str(left), "twice", inputs={"size": 8}).is_good
        assert other.deployments.outputs("twice") == {"size": 8}


def test_h45_files_that_were_changed_or_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    left, _ = alone(tmp_path)
    document = json.loads(left.read_text())
    spoilt = [
        {"blueprint.yaml": "{}"},
        {"../made.py": "x"},
        {"/etc/made.py": "x"},
        {"logo.png": {"base64": "?"}},
        {"logo.png": 7},
    ]
    with phaseline.open(f"sqlite:///{tmp_path}/other.db") as other:
        for change in spoilt:
            left.write_text(json.dumps({**document, "files": {**document["files"], **change}}))
            with pytest.raises(phaseline.ProblemsError, match="PL-C081"):
                other.deployments.adopt(str(left))
        bare = {**document["phaseline"], "files": {"left_out": "more than 16 bytes"}}
        left.write_text(json.dumps({**document, "files": {}, "phaseline": bare}))
        with pytest.raises(phaseline.ProblemsError, match=r"PL-C024.*none of its files: more than 16 bytes"):
            other.deployments.adopt(str(left))
        assert len(other.blueprints.list()) == 0


def test_s10_too_many_files_are_left_out_with_the_reason(actions: Actions) -> None:
    (actions.house.folder / "large").write_bytes(bytes(MOST_BYTES))
    document: Any = actions.shop.deployments.export("shop")
    assert document["files"] == {}
    assert f"{MOST_BYTES:,} bytes" in document["phaseline"]["files"]["left_out"]


def test_d41_labels_change_only_when_the_hook_classes_agree(house: House) -> None:
    house.hook("B", fails={"pre": "not that one"}, actions=["RELABEL"])
    actions = Actions(house)
    actions.install()
    shop = actions.shop
    with pytest.raises(ProblemsError, match=r"PL-H022 .*pre hook B: not that one"):
        shop.deployments.labels("shop", add=["team=ops"])
    assert actions.calls() == ["pre A RELABEL", "pre B RELABEL", "post A RELABEL True pre_failed"]
    assert "team" not in shop.deployments.labels("shop").labels
    shop.close()


def test_d41_labels_that_a_hook_class_lets_through_are_changed_in_the_turn(actions: Actions) -> None:
    told = actions.shop.deployments.labels("shop", add=["team=ops"])
    assert (told.labels["team"], told.added, told.removed) == (["ops"], 1, 0)
    assert actions.calls() == pair("RELABEL")
    assert actions.shop.deployments.labels("shop", remove=["team"]).removed == 1
