"""What hook classes see and say round real executions: views, targets, warnings, decisions, previews (source 2, §8, §9)."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import phaseline
from phaseline.embedded.follow import follow
from phaseline.use_cases.commands.update import update
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.update_preparation import UpdateOrder

CLASSES = '''
"""Hook classes that are told by their options what to look at, and write down what they saw."""
import json, urllib.error, urllib.request
from pathlib import Path


class Looks:
    def __init__(self, log, ordinal=100):
        self.log, self.ordinal = log, ordinal

    def get_ordinal(self):
        return self.ordinal

    def say(self, word, stack, target, action, *more):
        def sizes(of):
            return None if of is None else sorted((one.node, one.properties["size"]) for one in of.resources.values())

        with Path(self.log).open("a") as file:
            file.write(json.dumps([word, action, sizes(stack), sizes(target), *more]) + "\\n")

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        self.say("pre", stack, current_stack, action)

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        self.say("post", stack, current_stack, action, is_stack_failure)


class Writes:
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        next(iter(stack.resources.values())).properties["size"] = 9


class Warns:
    def do_preview_op(self, cnxt, stack, current_stack=None, action=None):
        self.do_pre_op(cnxt, stack)

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        cnxt.warn(f"{len(stack.resources)} instances")

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        cnxt.warn("it is over")


class Says:
    """Says that the state is FAILED, in the methods named."""

    def __init__(self, log, phases):
        self.log, self.phases = log, phases

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        if "pre" in self.phases:
            stack.state_set("CREATE", "FAILED", "no licence")

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        if "post" in self.phases:
            stack.state_set("CREATE", "FAILED", "the books are closed")


class Decides:
    def __init__(self, log, ordinal=100, **decision):
        self.ordinal, self.decision = ordinal, decision

    def get_ordinal(self):
        return self.ordinal

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        for name, one in stack.resources.items():
            if one.node == "web":
                cnxt.decide(name, {**self.decision, "seen": sorted(cnxt.decisions.get(name, {}))})

    do_preview_op = do_pre_op


class Refuses:
    def __init__(self, log, ordinal=100):
        self.log, self.ordinal = log, ordinal

    def get_ordinal(self):
        return self.ordinal

    def do_preview_op(self, cnxt, stack, current_stack=None, action=None):
        with Path(self.log).open("a") as file:
            file.write(json.dumps(["preview", self.ordinal, cnxt.hook.phase]) + "\\n")
        raise PermissionError(f"not for {cnxt.workflow}")

    def do_pre_op(self, *_given):
        raise AssertionError("a preview calls no pre")


class Licences:
    """Asks a licence server for one licence for each instance, and gives back what did not come to stand."""

    def __init__(self, log, server):
        self.server = server

    def ask(self, verb, stack):
        body = json.dumps({"who": stack.id, "count": len(stack.resources)}).encode()
        try:
            urllib.request.urlopen(urllib.request.Request(f"{self.server}/{verb}", body), timeout=20).close()
        except urllib.error.HTTPError as error:
            raise PermissionError(error.read().decode()) from None

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        if action == "CREATE":
            self.ask("take", stack)

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        if is_stack_failure or action == "DELETE":
            self.ask("give", stack)
'''
OPERATIONS = """
from phaseline import operation
made = []

@operation
def create(item):
    made.append((item.instance_id, dict(item.decisions)))
    item.runtime_properties["decided"] = dict(item.decisions)
    if item.properties["fails"]:
        item.fail("no power")
"""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: {size: {default: 1}, fails: {default: false}}
plugins: {acme: {executor: central_deployment_agent, install: false}}
node_types:
  thing:
    derived_from: cloudify.nodes.Root
    properties: {size: {default: 1}, fails: {default: false}}
    interfaces: {cloudify.interfaces.lifecycle: {create: {implementation: acme.acme_operations.create, max_retries: 0}}}
node_templates:
  db: {type: thing}
  web:
    type: thing
    properties: {size: {get_input: size}, fails: {get_input: fails}}
    relationships: [{type: cloudify.relationships.depends_on, target: db}]
"""


class House:
    """A folder with a blueprint, its operations, and the module of hook classes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "seen.txt"
        (folder / "seeing.py").write_text(CLASSES)
        (folder / "acme_operations.py").write_text(OPERATIONS)
        (folder / "blueprint.yaml").write_text(BLUEPRINT)
        self.file = str(folder / "blueprint.yaml")
        self.classes: list[dict[str, object]] = []

    def hook(self, kind: str, name: str = "", **options: object) -> None:
        needs = {} if kind in {"Writes", "Warns"} else {"log": str(self.log)}
        self.classes.append({"class": f"seeing:{kind}", "name": name or kind, "options": {**needs, **options}})

    def open(self, **settings: str) -> phaseline.Phaseline:
        given = {"plugins.path": str(self.folder), "hooks.classes": json.dumps(self.classes), **settings}
        return phaseline.open("memory:", settings=given)

    def seen(self) -> list[list[object]]:
        found = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


ONE, TWO = [["db", 1], ["web", 1]], [["db", 1], ["web", 2]]
WIDE = [["db", 1], ["web", 1], ["web", 1]]


def test_h19_an_update_is_seen_as_it_is_and_as_it_is_to_be(house: House) -> None:
    house.hook("Looks")
    with house.open() as shop:
        assert shop.executions.install(house.file, "shop").status == "completed"
        assert house.seen() == [["pre", "CREATE", ONE, None], ["post", "CREATE", ONE, None, False]]
        assert shop.deployments.update("shop", house.file, inputs={"size": 2}).status == "completed"
        assert house.seen() == [["pre", "UPDATE", ONE, TWO], ["post", "UPDATE", TWO, TWO, False]]


def test_h19_the_target_of_a_scale_is_the_planned_instances(house: House) -> None:
    house.hook("Looks")
    with house.open() as shop:
        shop.executions.install(house.file, "shop")
        house.seen()
        wider = {"scalable_entity_name": "web"}
        assert shop.executions.start("scale", "shop", parameters=wider).status == "completed"
        assert house.seen() == [["pre", "SCALE", ONE, WIDE], ["post", "SCALE", WIDE, WIDE, False]]


def test_h20_the_target_of_taking_an_update_back_is_what_there_was(house: House) -> None:
    house.hook("Looks")
    with house.open() as shop:
        shop.executions.install(house.file, "shop")
        house.seen()
        changed = {"size": 2, "fails": True}
        order = UpdateOrder("shop", house.file, changed)
        done = follow(shop.ctx, update(shop.ctx, order, manner=ExecutionOptions(on_failure="rollback")))
        assert done.status == "failed"
        first, failed, back, over = house.seen()
        assert first == ["pre", "UPDATE", ONE, TWO]
        assert failed == ["post", "UPDATE", TWO, TWO, True]
        assert (back[:2], back[3]) == (["pre", "ROLLBACK"], ONE)
        assert over[:3] == ["post", "ROLLBACK", ONE]


def test_h33_a_hook_that_writes_is_refused_and_nothing_is_touched(house: House) -> None:
    house.hook("Writes")
    with house.open() as shop:
        done = shop.executions.install(house.file, "shop")
        states = {one.state for one in shop.instances.list(deployment="shop").items}
    assert done.status == "failed"
    assert done.reason.startswith("pre hook Writes: stack.resources['db_")
    assert "'].properties['size'] cannot be written" in done.reason
    assert states == {"uninitialized"}


def test_h47_a_warning_is_told_everywhere_and_the_operation_goes_on(house: House) -> None:
    house.hook("Warns")
    with house.open() as shop:
        assert "warns: 2 instances" in shop.blueprints.plan(house.file).text
        done = shop.executions.install(house.file, "shop")
        assert done.status == "completed"
        assert list(done.warnings) == ["Warns: 2 instances", "Warns: it is over"]
        assert list(shop.executions.show(done.id).warnings) == list(done.warnings)
        events = [line.text for line in shop.executions.events(done.id).lines]
        logs = [(line.level, line.text) for line in shop.executions.logs(done.id).lines]
    assert [text for text in events if "instances" in text or "over" in text] == ["2 instances", "it is over"]
    assert ("warning", "2 instances") in logs


@pytest.mark.parametrize(
    ("phases", "reason", "states"),
    [
        (["pre"], "pre hook Says: no licence", {"uninitialized"}),
        (["post"], "post hook Says: the books are closed", {"started"}),
    ],
)
def test_h49_saying_that_the_state_is_failed_is_a_failure(house: House, phases, reason, states) -> None:
    house.hook("Says", phases=phases)
    with house.open() as shop:
        done = shop.executions.install(house.file, "shop")
        found = {one.state for one in shop.instances.list(deployment="shop").items}
    assert (done.status, done.reason, found) == ("failed", reason, states)


def test_h50_a_decision_reaches_the_operation_the_plan_and_later_classes(house: House) -> None:
    house.hook("Decides", "A", rack="r1", row=1)
    house.hook("Decides", "B", ordinal=200, rack="r2")
    with house.open() as shop:
        plan = shop.blueprints.plan(house.file).text
        assert 'A  decides for web × 1: {"rack": "r1", "row": 1, "seen": []}' in plan
        assert 'B  decides for web × 1: {"rack": "r2", "seen": ["rack", "row", "seen"]}' in plan
        done = shop.executions.install(house.file, "shop")
        web = next(one for one in shop.instances.list(deployment="shop").items if one.node == "web")
        shown = shop.instances.show(web.id, deployment="shop")
    decided = {"rack": "r2", "row": 1, "seen": ["rack", "row", "seen"]}
    assert done.status == "completed"
    assert shown.runtime_properties["decided"] == decided, "later classes have the last word, name by name"
    assert done.decided == {web.id: decided}


def test_h36_a_preview_asks_in_order_and_calls_neither_pre_nor_post(house: House) -> None:
    house.hook("Refuses", "B", ordinal=200)
    house.hook("Refuses", "A")
    house.hook("Looks", "C", ordinal=300)
    with house.open() as shop:
        found = shop.blueprints.plan(house.file)
    assert house.seen() == [["preview", 100, "preview"], ["preview", 200, "preview"]]
    assert [(one.name, one.says, one.message) for one in found.around.hooks] == [
        ("A", "refuses", "not for install"),
        ("B", "refuses", "not for install"),
        ("C", "silent", ""),
    ]
    assert "A  would be refused: not for install" in found.text


class Licences(HTTPServer):
    """A licence server: ``POST /take`` and ``/give``, so many licences and no more."""

    def __init__(self, count: int) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.free, self.asked = count, list[str]()


class Answering(BaseHTTPRequestHandler):
    server: Licences

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(self.path)
        count = asked["count"] if self.path == "/take" else -asked["count"]
        is_given = count <= self.server.free
        self.server.free -= count if is_given else 0
        text = b"" if is_given else f"{asked['who']} wants {count} licences, {self.server.free} are left".encode()
        self.send_response(200 if is_given else 403)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_given: object) -> None:
        pass


@pytest.fixture
def licences() -> Iterator[Licences]:
    with Licences(3) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_h48_a_licence_server_is_asked_before_and_told_after(house: House, licences: Licences) -> None:
    house.hook("Licences", server=f"http://127.0.0.1:{licences.server_port}")
    with house.open() as shop:
        assert shop.executions.install(house.file, "one").status == "completed"
        refused = shop.executions.install(house.file, "two")
        assert (refused.status, refused.reason) == ("failed", "pre hook Licences: two wants 2 licences, 1 are left")
        assert {one.state for one in shop.instances.list(deployment="two").items} == {"uninitialized"}
        assert licences.asked == ["/take", "/take"], "who was refused has nothing to give back"
        shop.executions.uninstall("one")
        assert licences.free == 3
        broken = shop.executions.install(house.file, "three", inputs={"fails": True})
        assert broken.status == "failed"
    assert licences.asked == ["/take", "/take", "/give", "/take", "/give"]
    assert licences.free == 3
