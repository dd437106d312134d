"""Where the words of a ``ctx`` command lead (S5)."""

from typing import Any

import pytest
from tests.compat.cloudify.builders import node_call, stored

from phaseline.calls.protocol.call import PluginCall
from phaseline.compat.cloudify.ctx_commands import IllegalPathError, read_words, walk


def ctx_of(call: PluginCall) -> Any:
    from cloudify.context import CloudifyContext

    return CloudifyContext(call)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("node properties port", 8080),
        ("node properties deep.list[0].name", "first"),
        ("node name", "web"),
        ("node type-hierarchy", ["my.Server", "cloudify.nodes.Root"]),
        ("execution-id", "install-7"),
        ("execution_id", "install-7"),
        ("operation retry-number", 0),
        ("instance host-ip", "10.0.0.5"),
        ("tenant-name", "default_tenant"),
        ("tenant name", "default_tenant"),
        ("plugin name", "web"),
        ("deployment id", "shop"),
    ],
)
def test_s5_words_lead_to_attributes_and_mapping_paths(words: str, value: Any) -> None:
    assert walk(ctx_of(node_call()), words.split()) == value


def test_s5_source_and_target_of_a_relationship() -> None:
    ctx = ctx_of(node_call(pair=("web_1", "db_1")))
    assert walk(ctx, ["source", "node", "properties", "port"]) == 8080
    assert walk(ctx, ["target", "instance", "runtime-properties", "url"]) == "db://1"


@pytest.mark.parametrize(
    ("path", "value", "written"),
    [
        ("port", "8080", {"port": "8080"}),
        ("a.b.c", 1, {"a": {"b": {"c": 1}}}),
        ("list", [1], {"list": [1]}),
        ("keys", "named like a method", {"keys": "named like a method"}),
    ],
)
def test_s5_one_word_more_than_the_path_sets_it(path: str, value: Any, written: Any) -> None:
    call = node_call()
    ctx = ctx_of(call)
    if path == "keys":
        ctx.instance.runtime_properties["keys"] = ""
    assert walk(ctx, ["instance", "runtime-properties", path, value]) is None
    ctx._give_back()
    assert ctx.instance.runtime_properties.dirty
    assert stored(call.instance) == written


def test_s5_element_of_a_list_can_be_set() -> None:
    ctx = ctx_of(node_call())
    ctx.instance.runtime_properties["list"] = [{"x": 1}, 2]
    walk(ctx, ["instance", "runtime-properties", "list[0].x", 5])
    walk(ctx, ["instance", "runtime-properties", "list[1]", 6])
    assert ctx.instance.runtime_properties["list"] == [{"x": 5}, 6]
    with pytest.raises(IllegalPathError):
        walk(ctx, ["instance", "runtime-properties", "list[2]", 7])


def test_s5_key_spelled_like_a_path_wins() -> None:
    ctx = ctx_of(node_call())
    ctx.instance.runtime_properties["a.b"] = 1
    assert walk(ctx, ["instance", "runtime-properties", "a.b"]) == 1


@pytest.mark.parametrize(
    "words",
    [
        "node properties nope",
        "node properties deep.nope.x",
        "node properties deep.list[7]",
        "node properties port.x",
        "x",
    ],
)
def test_s5_absent_keys_are_illegal_paths(words: str) -> None:
    with pytest.raises(IllegalPathError, match="illegal path"):
        walk(ctx_of(node_call()), words.split())


def test_s5_too_many_words_are_an_error() -> None:
    with pytest.raises(IllegalPathError, match="2 words"):
        walk(ctx_of(node_call()), ["instance", "runtime-properties", "a", "b", "c"])


@pytest.mark.parametrize("words", ["_call", "-call", "instance _view", "__class__"])
def test_s5_inner_parts_cannot_be_named(words: str) -> None:
    with pytest.raises(IllegalPathError):
        walk(ctx_of(node_call()), words.split())


def test_s5_read_only_properties_stay_so_at_every_depth() -> None:
    from cloudify.exceptions import NonRecoverableError

    ctx = ctx_of(node_call())
    for path in ("port", "deep.new", "deep.list[0].name"):
        with pytest.raises(NonRecoverableError):
            walk(ctx, ["node", "properties", path, "x"])
    assert ctx.node.properties["deep"] == {"list": [{"name": "first"}]}


def test_s5_callables_get_the_remaining_words_and_a_final_mapping_as_keywords() -> None:
    class Place:
        def put(self, *words: Any, **options: Any) -> Any:
            return [list(words), options]

    assert walk(Place(), ["put"]) == [[], {}]
    assert walk(Place(), ["put", "a", 2]) == [["a", 2], {}]
    assert walk(Place(), ["put", "a", {"b": 1}]) == [["a"], {"b": 1}]


def test_s5_words_that_begin_with_the_prefix_are_json() -> None:
    assert read_words(["a", '@{"b": [1]}', "@true"]) == ["a", {"b": [1]}, True]
    assert read_words(["%5", "@x"], "%") == [5, "@x"]
    with pytest.raises(ValueError):
        read_words(["@nonsense"])
