"""``plugins try`` calls a function with made-up items and tells what came of them."""

import pytest
from tests.cli.terminal import Terminal

PLUGIN = """\
from phaseline import operation


@operation(bulk=True, repeatable=True)
def create(batch):
    for item in batch:
        item.log.info(f"a {item.properties['size']} one")
        item.runtime_properties["disk"] = item.inputs.get("disk", "none")


@operation
def wait(item):
    item.data["seen"] = True
    item.again(30, "booting")


@operation
def join(item):
    item.source.runtime_properties["port"] = item.target.node.properties["port"]


def stop(ctx, **inputs):
    raise ValueError("cannot be \\x1b[31mstopped")
"""


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    (terminal.folder / "machines.py").write_text(PLUGIN)
    return terminal


def test_a_bulk_function_is_called_once_for_all_items(shop: Terminal) -> None:
    words = ("--properties", "{size: small}", "--inputs", "disk: ssd", "--count", "3")
    result = shop.run("plugins", "try", "machines:create", *words)
    assert result.exit_code == 0
    assert "in bulk, 1 call for 3 items; may be repeated after a crash" in result.stdout
    assert result.stdout.count('disk = "ssd"') == 3
    assert "a small one" in result.stdout
    assert result.stdout.rstrip().endswith("3 completed")


def test_the_answer_in_json_has_everything(shop: Terminal) -> None:
    code, found = shop.ask("plugins", "try", "machines:wait")
    assert code == 0
    assert (found["form"], found["calls"]) == ("each", 1)
    [item] = found["items"]
    assert (item["outcome"], item["after_s"], item["message"]) == ("again", 30.0, "booting")
    assert item["data"] == {"seen": True}


def test_a_relationship_operation_has_a_target(shop: Terminal) -> None:
    code, found = shop.ask("plugins", "try", "machines.join", "--target", "port: 5432")
    assert code == 0
    assert found["items"][0]["runtime_properties"] == {"port": 5432}


def test_a_function_with_ctx_that_raises_shows_its_traceback_and_the_exit_code_says_so(shop: Terminal) -> None:
    result = shop.run("plugins", "try", "machines:stop", "--runtime", "{a: 1}")
    assert result.exit_code == 1
    assert "one by one, with ctx" in result.stdout
    assert "a = 1" in result.stdout
    assert "ValueError" in result.stdout
    assert "\x1b" not in result.stdout


def test_nothing_is_stored(shop: Terminal) -> None:
    shop.run("plugins", "try", "machines:create", "--properties", "{size: small}")
    assert not (shop.folder.parent / "store.db").exists()


def test_a_function_that_is_not_there_is_a_problem(shop: Terminal) -> None:
    code, found = shop.ask("plugins", "try", "machines:craete")
    assert code == 1
    assert found["problems"][0]["code"] == "PL-O002"
    code, found = shop.ask("plugins", "try", "machine:create")
    assert found["problems"][0]["code"] == "PL-O002"


def test_properties_that_are_no_mapping_are_refused(shop: Terminal) -> None:
    assert shop.run("plugins", "try", "machines:create", "--properties", "small").exit_code == 2
