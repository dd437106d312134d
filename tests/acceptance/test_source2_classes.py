"""Hook classes round real executions, by the Python interface: found, called, bounded, shared (source 2, H1-H43)."""

import json
import os
import threading
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.use_cases.prepare.hook_differences import hook_differences

HOUSE = Path(__file__).parents[1] / "hooks" / "house.py"
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_types:
  thing: {derived_from: cloudify.nodes.Root, properties: {size: {default: 1}}}
node_templates:
  db: {type: thing}
  web: {type: thing, relationships: [{type: cloudify.relationships.depends_on, target: db}]}
"""


class House:
    """A folder with a blueprint, a store, and the module of hook classes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "calls.txt"
        (folder / "blueprint.yaml").write_text(BLUEPRINT)
        (folder / "house.py").write_text(HOUSE.read_text())
        self.classes: list[dict[str, object]] = []
        self.settings = {"plugins.path": str(folder)}

    def hook(self, name: str, kind: str = "Recorder", **options: object) -> None:
        """Name a class in the settings."""
        options = {"name": name, "log": str(self.log), **options}
        self.classes.append({"class": f"house:{kind}", "name": name, "options": options})

    def open(self, url: str | None = None, **settings: str) -> phaseline.Phaseline:
        """The use cases over the house's store."""
        given = {**self.settings, "hooks.classes": json.dumps(self.classes), **settings}
        return phaseline.open(url or f"sqlite:///{self.folder}/store.db", settings=given)

    def install(self, name: str = "shop", url: str | None = "memory:", **settings: str):
        """An install as it ended."""
        with self.open(url, **settings) as shop:
            return shop.executions.install(str(self.folder / "blueprint.yaml"), name)

    def calls(self) -> list[str]:
        """What was called, without the numbers of objects."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.rpartition(" ")[0] for line in lines]

    def objects(self) -> list[str]:
        """Which objects were called."""
        return [line.rpartition(" ")[2] for line in self.log.read_text().splitlines()]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_h1_one_class_one_object_a_pre_and_a_post(house: House) -> None:
    house.hook("A")
    assert house.install().status == "completed"
    assert house.calls() == ["pre A CREATE", "post A CREATE False completed"]
    assert len(set(house.objects())) == 1


def test_h8_without_classes_nothing_surrounds_an_execution(house: House) -> None:
    with house.open("memory:") as shop:
        row = shop.executions.install(str(house.folder / "blueprint.yaml"), "shop")
        assert not shop.ctx.store.execution(row.id).request.is_surrounded


def test_h9_a_class_is_called_where_it_has_the_method(house: House) -> None:
    house.hook("A", "OnlyPre")
    house.hook("B", "OnlyPost")
    house.hook("C", "Neither")
    assert house.install().status == "completed"
    assert house.calls() == ["pre A CREATE", "post B CREATE False completed"]


def test_h10_h14_a_refusal_is_told_by_its_first_argument_and_what_was_agreed_is_undone(house: House) -> None:
    house.hook("A")
    house.hook("B", ordinal=200, fails={"post": "still held"})
    house.hook("C", ordinal=300, fails={"pre": "no racks"})
    done = house.install()
    assert (done.status, done.reason) == ("failed", "pre hook C: no racks; undo hook B: still held")
    assert house.calls()[3:] == ["post B CREATE True pre_failed", "post A CREATE True pre_failed"]


def test_h15_h16_a_post_that_fails_counts_unless_it_is_not_critical(house: House) -> None:
    house.hook("A", fails={"exit": ""})
    house.hook("B", ordinal=200, fails={"post": "no ledger"}, critical=False)
    house.hook("C", ordinal=300)
    done = house.install()
    assert (done.status, done.reason) == ("failed", "post hook A: the hook called sys.exit(3); post hook B: no ledger")
    assert house.calls()[-1] == "post C CREATE False completed"
    house.classes[0]["options"]["critical"] = False
    assert house.install().status == "completed"


def test_h32_what_hangs_is_given_up_and_counts_as_a_failure(house: House) -> None:
    house.hook("A")
    house.hook("B", ordinal=200, hangs="pre", timeout=0.02)
    done = house.install()
    assert (done.status, done.reason) == ("failed", "pre hook B: timed out after 0.02 s")
    assert [call for call in house.calls() if " A " in call] == ["pre A CREATE", "post A CREATE True pre_failed"]


def test_h32_twenty_that_hang_hold_up_nobody(house: House) -> None:
    for number in range(20):
        house.hook(f"H{number:02}", "OnlyPost", hangs="post", timeout=0.01, critical=False)
    house.hook("A", ordinal=200)
    with house.open("memory:") as shop:
        done = shop.executions.install(str(house.folder / "blueprint.yaml"), "shop")
        lines = [line.text for line in shop.executions.logs(done.id).lines]
    assert done.status == "completed"
    assert "post A CREATE False completed" in house.calls()
    assert "H19 still runs in a thread whose result is ignored; such threads: 20" in lines


def killed_at_the_gate(house: House, how: str) -> tuple[str, str]:
    """(status, reason) of an install that was canceled while a class stood at its gate, which is opened only afterwards."""
    os.mkfifo(house.folder / "gate")
    done: list[tuple[str, str]] = []

    def install() -> None:
        ended = house.install(url=None)
        done.append((ended.status, ended.reason))

    at_work = threading.Thread(target=install)
    at_work.start()
    with (house.folder / "gate").open("w"):  # as soon as somebody stands there
        with house.open() as other:
            other.executions.cancel("install-1", **{how: True})
        at_work.join(60)
        assert not at_work.is_alive(), "nobody waits for who stands at the gate"
    return done[0]


@pytest.mark.parametrize("how", ["force", "kill"])
def test_h52_a_pre_that_is_cut_short_has_not_agreed_and_those_before_are_undone(house: House, how) -> None:
    house.hook("A")
    house.hook("B", ordinal=200, gate="pre", timeout=3600)
    house.hook("C", ordinal=300)
    assert killed_at_the_gate(house, how) == ("canceled", "pre hook B: was given up on request")
    assert house.calls() == ["pre A CREATE", "pre B CREATE", "post A CREATE True cancelled"]
    with house.open() as shop:
        lines = [line.text for line in shop.executions.logs("install-1").lines]
    assert "B still runs in a thread whose result is ignored; such threads: 1" in lines


@pytest.mark.parametrize("critical", [True, False])
def test_h52_a_post_that_is_cut_short_has_failed_and_those_behind_are_called(house: House, critical) -> None:
    house.hook("A")
    house.hook("B", ordinal=200, gate="post", timeout=3600, critical=critical)
    house.hook("C", ordinal=300)
    wanted = ("failed", "post hook B: was given up on request") if critical else ("completed", "")
    assert killed_at_the_gate(house, "kill") == wanted
    assert house.calls()[3:] == [f"post {name} CREATE False completed" for name in "ABC"], "nobody is told twice"


def test_what_a_coroutine_refuses_is_refused_and_what_is_printed_is_in_the_log(house: House) -> None:
    house.hook("A", "Later")
    with house.open("memory:") as shop:
        done = shop.executions.install(str(house.folder / "blueprint.yaml"), "shop")
        lines = [line.text for line in shop.executions.logs(done.id).lines]
    assert (done.status, done.reason) == ("failed", "pre hook A: not now")
    assert "<out> looking" in lines
    (told,) = [line for line in lines if line.startswith("hook ")]
    assert told.startswith(
        "hook class=settings//A phase=pre ordinal=100 action=CREATE deployment=shop execution=install-1 ms="
    )
    assert told.endswith(" outcome=failed")


@pytest.mark.parametrize("knows", [True, False])
def test_the_doctor_names_executions_whose_caller_knew_other_classes(house: House, knows) -> None:
    if knows:
        house.hook("A")
    with house.open() as shop:
        shop.executions.install(str(house.folder / "blueprint.yaml"), "shop", detach=True)
        assert list(hook_differences(shop.ctx)) == []
    house.classes.clear()
    house.hook("B")
    with house.open() as other:
        (found,) = hook_differences(other.ctx)
    assert (found.execution, found.not_asked, found.not_known) == ("install-1", ("B",), ("A",) if knows else ())
    assert str(found).endswith(" does not ask B and asks A, which is not known here" if knows else " does not ask B")


def test_h34_who_changes_a_deployment_by_the_back_door_is_named(house: House) -> None:
    house.hook("A", "Meddler")
    assert house.install().status == "completed", "nobody looks"
    done = house.install(**{"hooks.verify": "digest"})
    assert done.status == "failed"
    assert "house:Meddler has changed the properties of nodes of the deployment behind its view" in done.reason


def test_h41_a_class_is_called_for_its_actions(house: House) -> None:
    house.hook("A", actions=["DELETE"])
    with house.open() as shop:
        shop.executions.install(str(house.folder / "blueprint.yaml"), "shop")
        assert house.calls() == []
        shop.executions.uninstall("shop")
    assert house.calls() == ["pre A DELETE", "post A DELETE False completed"]


def test_h43_two_executions_at_once_share_an_object_unless_the_class_wants_one_for_each(house: House) -> None:
    house.hook("A", meets=True)
    house.hook("B", ordinal=200, per_execution=True, meets=True)
    ended: list[str] = []

    def install(name: str) -> None:
        ended.append(house.install(name, None).status)

    both = [threading.Thread(target=install, args=(name,)) for name in ("one", "two")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert ended == ["completed", "completed"]
    of = {"A": [], "B": []}
    for call, found in zip(house.calls(), house.objects(), strict=True):
        # They meet at each pre, so one engine calls both; when one has ended, the other may go on in an engine of its own.
        if call.startswith("pre"):
            of[call.split()[1]].append(found)
    assert [len(found) for found in of.values()] == [2, 2]
    assert len(set(of["A"])) == 1
    assert len(set(of["B"])) == 2


def test_h51_who_is_switched_off_is_not_called(house: House) -> None:
    house.hook("A", optional=True)
    house.hook("B", ordinal=200)
    with house.open() as shop:
        shop.deployments.create(str(house.folder / "blueprint.yaml"), "shop")
        shop.hooks.disable("A", deployment="shop")
        with pytest.raises(ProblemsError, match="PL-H003"):
            shop.hooks.disable("B", deployment="shop")
        shop.hooks.disable("B", reason="holiday")
        shop.executions.start("install", "shop")
        assert house.calls() == []
        shop.hooks.enable("A", deployment="shop")
        shop.executions.start("uninstall", "shop")
    assert house.calls() == ["pre A DELETE", "post A DELETE False completed"]


def test_what_is_read_anew_is_for_the_next_action(house: House) -> None:
    house.hook("A")
    with house.open() as shop:
        shop.executions.install(str(house.folder / "blueprint.yaml"), "shop")
        (house.folder / "house.py").write_text(HOUSE.read_text().replace('say("pre"', 'say("PRE"'))
        assert shop.hooks.reload().is_good
        shop.executions.uninstall("shop")
    assert [line.split()[0] for line in house.calls()] == ["pre", "post", "PRE", "post"]
