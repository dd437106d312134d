"""Whatever code of plugins gives fails the call that gave it, and neither the engine nor anybody else's work."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.run import evil
from tests.run.worlds import World, make_blueprint, plugin

import phaseline
from phaseline.calls.protocol.plugin_boundary import LONGEST_AFTER_S
from phaseline.model.graph.status import OutcomeKind
from phaseline.testing.builders import node

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins: {evil: {executor: central_deployment_agent, install: false}}
node_types:
  thing: {derived_from: cloudify.nodes.Root, properties: {case: {default: ""}}}
node_templates:
  good: {type: thing, interfaces: {cloudify.interfaces.lifecycle: {create: evil.evil.each}}}
"""
FEW = [f"{kind}: {name}" for kind, name in [("unstorable", "in itself"), ("unstorable", "digits"), ("no time", "nan")]]


def cases(*kinds: str) -> list[str]:
    return [f"{kind}: {name}" for kind in kinds for name in evil.ALL[kind]]


class Shop:
    """A real store in a file, and blueprints with a node for each case beside a good one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "plugins").mkdir()
        shutil.copy(Path(evil.__file__), folder / "plugins" / "evil.py")
        self.shop = phaseline.open(f"sqlite:///{folder}/store.db")

    def install(self, operation: dict[str, object], *given: str, name: str = "app") -> dict[str, str]:
        """{case: message of its failure}; the good node has been made whatever becomes of the others."""
        (self.folder / "plugins" / "cases").write_text("\n".join(given))
        nodes = [
            f"  n{place}: {{type: thing, properties: {{case: {json.dumps(case)}}}, "
            f"interfaces: {{cloudify.interfaces.lifecycle: {{create: {json.dumps(operation)}}}}}}}\n"
            for place, case in enumerate(given)
        ]
        (self.folder / "blueprint.yaml").write_text(BLUEPRINT + "".join(nodes))
        row = self.shop.executions.install(str(self.folder / "blueprint.yaml"), name, task_retries=0)
        failed = {failure.instance.partition("_")[0]: failure.message for failure in row.failures}
        assert "good" not in failed
        found = {case: failed[f"n{place}"] for place, case in enumerate(given) if f"n{place}" in failed}
        assert row.status == ("failed" if found else "completed")
        return found

    def goes_on(self) -> None:
        """What others want is done as ever, by this engine."""
        assert self.install({"implementation": "evil.evil.each"}, "storable: zeros", name="another") == {}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    with made.shop:
        yield made


EVERYTHING = cases("unstorable", "storable", "no time", "final", "raised")
SAID = {"unstorable": "PL-O034", "too large": "PL-O034", "no time": "PL-O032", "final": "", "raised": ""}


def assert_told(found: dict[str, str], given: list[str], said: dict[str, str] = SAID) -> None:
    assert sorted(found) == sorted(case for case in given if case.partition(": ")[0] in said)
    for case, message in found.items():
        assert message.startswith(said[case.partition(": ")[0]]), (case, message[:200])
        assert case.startswith(("final: nan", "final: late", "final: word")) == ("busy; PL-O032" in message)


@pytest.mark.parametrize("function", ["each", "later", "bulk"])
def test_what_native_operations_give_fails_their_own_call_alone(shop: Shop, function: str) -> None:
    assert_told(shop.install({"implementation": f"evil.evil.{function}"}, *EVERYTHING), EVERYTHING)
    shop.goes_on()


@pytest.mark.parametrize("function", ["together", "data", "result"])
def test_what_they_leave_in_one_call_or_for_the_next_one_fails_its_own_item_alone(shop: Shop, function: str) -> None:
    given = cases("unstorable", "storable")
    assert_told(shop.install({"implementation": f"evil.evil.{function}"}, *given), given)
    shop.goes_on()


def test_what_is_too_large_fails_its_own_call_alone(shop: Shop) -> None:
    given = cases("too large")
    assert_told(shop.install({"implementation": "evil.evil.each"}, *given), given)
    shop.goes_on()


def test_what_they_write_and_say_is_a_text_or_fails_the_call(shop: Shop) -> None:
    given = cases("unstorable", "storable")
    assert sorted(shop.install({"implementation": "evil.evil.lines"}, *given)) == sorted(given)
    shop.goes_on()


def test_what_functions_with_ctx_give_fails_their_own_call_alone(shop: Shop) -> None:
    found = shop.install({"implementation": "evil.evil.with_ctx"}, *EVERYTHING)
    assert_told(found, EVERYTHING, {**SAID, "unstorable": ""})
    assert shop.install({"implementation": "evil.evil.returned"}, *cases("unstorable"), name="returned") == {}
    shop.goes_on()


@pytest.mark.parametrize("function", ["each", "with_ctx"])
def test_what_comes_from_worker_processes_fails_its_own_call_alone(shop: Shop, function: str) -> None:
    given = ["storable: half a character", "final: late", "raised: no text", *FEW]
    found = shop.install({"implementation": f"evil.evil.{function}", "timeout": 120}, *given)
    assert_told(found, given, {**SAID, "unstorable": ""})
    shop.goes_on()


def test_a_script_that_asks_for_a_time_beyond_all_times_fails_alone(shop: Shop) -> None:
    nested = "[" * 300 + "]" * 300
    script = (
        f"#!/bin/sh\nctx instance runtime-properties x '@{nested}'\nctx operation retry later 99999999999999999999\n"
    )
    (shop.folder / "late.sh").write_text(script)
    found = shop.install({"implementation": "late.sh"}, "a script")
    assert found["a script"].startswith("later [retry_after=99999999999999999999]; runtime property 'x[0]")
    shop.goes_on()


def test_what_a_phase_writes_or_raises_fails_its_own_resources_alone(shop: Shop) -> None:
    given = cases("unstorable", "storable")
    found = shop.install({"implementation": "evil.evil.handle"}, *given)
    assert {"unstorable: in itself", "unstorable: an object", "unstorable: deep"} <= set(found)
    for place, case in enumerate(cases("final", "raised")):
        if case != "raised: in an age":  # that is how a phase sleeps
            assert shop.install({"implementation": "evil.evil.handle"}, case, name=f"phase{place}"), case
    shop.goes_on()


HOOKS = """
from evil import given, property_of


class Evil:
    def __init__(self, **told):
        self.case, self.name = told["case"], "evil"

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        if cnxt.deployment_id == "another":
            return
        kind, _, _ = self.case.partition(": ")
        left = {}
        time = property_of(left, self.case)
        if time is not None:
            cnxt.again(time)
        if left:
            cnxt.data["x"] = left["x"]
            cnxt.again(0)
"""


@pytest.mark.parametrize("case", [*FEW, "no time: ends", "final: exit", "raised: no text", "raised: worse"])
def test_what_a_hook_class_gives_refuses_its_own_execution_alone(tmp_path: Path, case: str) -> None:
    made = Shop(tmp_path)
    made.shop.close()
    shutil.copy(Path(evil.__file__), tmp_path / "evil.py")
    (tmp_path / "house.py").write_text(HOOKS)
    classes = [{"class": "house:Evil", "name": "evil", "options": {"case": case}}]
    settings = {"plugins.path": str(tmp_path), "hooks.classes": json.dumps(classes)}
    with phaseline.open(f"sqlite:///{tmp_path}/store.db", settings=settings) as made.shop:
        (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
        row = made.shop.executions.install(str(tmp_path / "blueprint.yaml"), "app")
        assert row.status == "failed", case
        assert "pre hook evil" in row.reason, case
        made.goes_on()


@pytest.mark.parametrize("time", evil.TIME)
@pytest.mark.parametrize("how", ["item.again", "batch.again", "RecoverableError"])
def test_a_time_far_off_is_a_year_and_one_behind_us_is_now(tmp_path: Path, time: str, how: str) -> None:
    says = {
        "item.again": "def create(batch): batch[0].again(TIME['%s']())\n",
        "batch.again": "def create(batch): batch.again(None, TIME['%s']())\n",
        "RecoverableError": "def create(batch): raise RecoverableError('busy', TIME['%s']())\n",
    }
    text = f"{Path(evil.__file__).read_text()}\n@operation(bulk=True)\n{says[how] % time}"
    plugin(tmp_path, text)
    world = World(tmp_path, make_blueprint(node("vm", create="cloud.create", instances=1)))
    try:
        answer = world.run(0)
    finally:
        world.close()
    assert answer.kind is (OutcomeKind.RETRY if how == "RecoverableError" else OutcomeKind.AGAIN)
    wanted = {"before": 0, "long before": 0, "in a third": 333}
    assert answer.delays == {0: wanted.get(time, LONGEST_AFTER_S * 1000)}
