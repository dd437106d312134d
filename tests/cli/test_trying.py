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


def test_an_exception_of_the_plugin_is_told_as_text_alone(shop: Terminal) -> None:
    code, found = shop.ask("plugins", "try", "machines:create")
    assert code == 1
    assert {item["raised"] for item in found["items"]} == {None}
    assert found["items"][0]["error"]


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


BROKEN = {
    "misspelled": ("", "machines:craete", "did you mean 'create'?"),
    "has no such function": ("", "machines:zebra", "it has create, wait, join, stop"),
    "no function": ("SIZE = 3\n", "broken:SIZE", "name a function"),
    "one word": ("", "machines", "write module:function, such as machines:create"),
    "no word after it": ("", "machines:", "write module:function, such as machines:create"),
    "no word before it": ("", ":create", "write module:function, such as machines:create"),
    "a path": ("", "shop/plugins/machines.py:create", "plugins try machines:create --plugins shop/plugins"),
    "a file": ("", "machines.py:create", "phaseline plugins try machines:create"),
    "a path upwards": ("", "../x:y", "phaseline plugins try x:y --plugins .."),
    "no such module": ("", "machine:create", "did you mean 'machines'?"),
    "what it imports is missing": ("import nowhere_to_be_found\n", "broken:create", "has 'nowhere_to_be_found'"),
    "no Python": ("def create(item)\n    pass\n", "broken:create", "correct this line"),
    "raises": ("import os\n\nos.environ['NO_SUCH_THING']\n", "broken:create", "runs when it is imported"),
}
WHERE = {"no Python": 1, "raises": 3, "what it imports is missing": 1}


@pytest.mark.parametrize("case", BROKEN)
def test_a_function_that_cannot_be_loaded_is_told_with_what_mends_just_that(shop: Terminal, case: str) -> None:
    text, function, mend = BROKEN[case]
    (shop.folder / "broken.py").write_text(text)
    code, found = shop.ask("plugins", "try", function)
    (problem,) = found["problems"]
    assert (code, problem["code"]) == (1, "PL-O002")
    assert mend in problem["mend"]
    assert problem["line"] == WHERE.get(case, 0)
    assert problem["file"] == (str(shop.folder / "broken.py") if case in WHERE else "")


def test_folders_of_plugins_that_are_not_there_are_told(shop: Terminal) -> None:
    code, found = shop.ask("plugins", "try", "machines:create", "--plugins", "nowhere")
    assert (code, found["problems"][0]["code"]) == (1, "PL-O003")


def test_properties_that_are_no_mapping_are_refused(shop: Terminal) -> None:
    assert shop.run("plugins", "try", "machines:create", "--properties", "small").exit_code == 2
