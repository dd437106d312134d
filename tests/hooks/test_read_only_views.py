"""What a hook may read, and that it writes nowhere (H33, H35, H40)."""

import copy
import json
import pickle

import pytest

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.hooks.read_only_views import ReadOnlyError, read_only, thaw
from phaseline.hooks.stack_view import StackView
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

BELOW = {"ports": [80, {"to": 443}], "disk": {"size": 10, "tags": ["a"]}, "name": "web"}


def shop() -> LoadedDeployment:
    app = blueprint(node("host"), node("web", on="host", instances=2, properties={"ports": [80, {"to": 443}]}))
    documents = {"web_1": {"resource_id": "vm-1", "disk": {"size": 10}}}
    return deployment(topology(app), documents=documents, state=InstanceState.STARTED, labels={"team": ["ops"]})


def view(of: LoadedDeployment) -> StackView:
    return StackView(lambda: of, "CREATE", "IN_PROGRESS")


def write_attribute(stack):
    stack.name = "x"


def write_resource(stack):
    stack.resources["web_1"].x = 1


def write_known_attribute(stack):
    stack.resources["web_1"].name = "x"


def delete_attribute(stack):
    del stack.action


def replace_resource(stack):
    stack.resources["web_1"] = None


def delete_resource(stack):
    del stack.resources["web_1"]


def set_item(stack):
    stack.resources["web_1"].properties["ports"] = []


def set_deep(stack):
    stack.resources["web_1"].properties["ports"][1]["to"] = 444


def add_in_place(stack):
    ports = stack.resources["web_1"].properties["ports"]
    ports += (1,)


def merge_in_place(stack):
    disk = stack.resources["web_1"].runtime_properties
    disk |= {"size": 11}


WRITES = {
    "stack.name": write_attribute,
    "stack.resources['web_1'].x": write_resource,
    "stack.resources['web_1'].name": write_known_attribute,
    "stack.action": delete_attribute,
    "stack.resources['web_1']": replace_resource,
    "stack.resources['web_1'].properties['ports']": set_item,
    "stack.resources['web_1'].properties['ports'][1]['to']": set_deep,
    "stack.resources['web_1'].runtime_properties['disk']": lambda stack: (
        stack.resources["web_1"].runtime_properties["disk"].update(size=11)
    ),
    "stack.labels['team']": lambda stack: stack.labels["team"].append("x"),
    "stack.resources": lambda stack: stack.resources.clear(),
    "stack.labels": lambda stack: stack.labels.pop("team"),
}


@pytest.mark.parametrize(("path", "write"), WRITES.items(), ids=WRITES)
def test_h33_a_write_raises_and_names_the_place(path, write):
    of = shop()
    with pytest.raises(ReadOnlyError) as refused:
        write(view(of))
    assert refused.value.path == path
    assert str(refused.value).startswith(f"{path} cannot be written")
    assert isinstance(refused.value, TypeError)
    assert isinstance(refused.value, AttributeError)
    assert of.document_of(of.topology.number_of["web_1"]) == {"resource_id": "vm-1", "disk": {"size": 10}}
    assert of.topology.nodes[of.topology.node_number["web"]].properties == {"ports": [80, {"to": 443}]}


@pytest.mark.parametrize(
    "write", [delete_resource, add_in_place, merge_in_place], ids=lambda function: function.__name__
)
def test_h33_other_ways_of_writing_are_refused_too(write):
    with pytest.raises(ReadOnlyError):
        write(view(shop()))


def test_h33_a_write_is_a_refusal_of_the_hook_like_any_other():
    class Writes:
        def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
            stack.resources["web_1"].x = 1

    answer = called(Writes(), shop())
    assert (answer.kind, answer.message.partition(":")[0]) == (
        "failed",
        "stack.resources['web_1'].x cannot be written",
    )


def test_what_is_wrapped_reads_like_what_is_below():
    seen = read_only(BELOW, "x")
    assert seen == BELOW
    assert seen["ports"] == [80, {"to": 443}]
    assert seen == BELOW, "also when it was touched"
    assert (seen.get("no"), seen.get("no", 1), "disk" in seen, list(seen)) == (None, 1, True, list(BELOW))
    assert isinstance(seen["ports"], tuple)
    assert isinstance(seen, dict)
    assert json.loads(json.dumps(seen)) == BELOW
    assert pickle.loads(pickle.dumps(seen)) == BELOW
    assert seen["disk"] is seen["disk"], "what was wrapped is kept"
    assert repr(seen["disk"]) == "{'size': 10, 'tags': ('a',)}"


def test_no_ordinary_way_leads_below_a_view():
    for way in (dict, lambda seen: {**seen}, lambda seen: seen | {}, lambda seen: {} | seen, lambda seen: seen.copy()):
        with pytest.raises(ReadOnlyError):
            way(read_only(BELOW, "x"))["disk"]["size"] = 11
    for values in (list(read_only(BELOW, "x").values()), [value for _, value in read_only(BELOW, "x").items()]):
        with pytest.raises(ReadOnlyError):
            values[1]["size"] = 11
    assert BELOW["disk"] == {"size": 10, "tags": ["a"]}


def test_a_thawed_copy_is_writable_and_apart():
    for copied in (thaw(read_only(BELOW, "x")), read_only(BELOW, "x").thaw(), copy.deepcopy(read_only(BELOW, "x"))):
        copied["ports"].append(1)
        copied["disk"]["size"] = 11
        assert copied["ports"] == [80, {"to": 443}, 1]
    whole = view(shop()).thaw()
    whole["resources"]["web_1"]["properties"]["ports"].append(1)
    assert BELOW == {"ports": [80, {"to": 443}], "disk": {"size": 10, "tags": ["a"]}, "name": "web"}


def test_a_view_shows_the_moment_it_was_made():
    of = shop()
    seen = view(of.as_is())
    web = of.topology.number_of["web_1"]
    of.apply(web, {("resource_id",): "vm-2"}, ())
    of.enter((int(InstanceState.STOPPED),), of.topology.node == of.topology.node_number["web"])
    assert (seen["web_1"].resource_id, seen["web_1"].state) == ("vm-1", "started")
    assert (view(of)["web_1"].resource_id, view(of)["web_1"].state) == ("vm-2", "stopped")


def test_h39_a_resource_has_what_a_heat_class_asks_for():
    seen = view(shop())
    web = seen.resources["web_1"]
    assert (web.name, web.uuid, web.resource_id, web.type()) == ("web_1", "web_1", "vm-1", "cloudify.nodes.Root")
    piece = web.parsed_template()
    assert piece["Type"] == "cloudify.nodes.Root"
    assert piece["Properties"] == {"ports": [80, {"to": 443}]}
    assert piece["DependsOn"] == ["host_1"]
    assert web._scheduler_hints({}) == {}
    assert [name for name, _ in seen.resources.iteritems()] == ["host_1", "web_1", "web_2"]
    assert [one.name for one in seen.resources.itervalues()] == ["host_1", "web_1", "web_2"]
    assert [one.name for one in seen.preview_resources()] == ["host_1", "web_1", "web_2"]
    assert seen.resources.get("nobody") is None
    assert (seen.id, seen.name, seen.action, seen.status, seen.state) == (
        "shop",
        "shop",
        "CREATE",
        "IN_PROGRESS",
        "CREATE_IN_PROGRESS",
    )


def test_h39_what_is_not_there_yet_has_a_uuid_and_no_resource_id():
    seen = view(deployment(topology(blueprint(node("web")))))
    assert (seen["web_1"].uuid, seen["web_1"].resource_id) == ("web_1", None)


def test_what_a_resource_is_tied_to():
    web = view(shop())["web_2"]
    assert (web.node, web.index, web.container, web.is_a("cloudify.nodes.Root")) == ("web", 2, "host_1", True)
    assert [(one.type.rpartition(".")[2], one.target) for one in web.relationships] == [("contained_in", "host_1")]
    with pytest.raises(ReadOnlyError) as refused:
        web.relationships[0].target = "x"
    assert refused.value.path == "stack.resources['web_2'].relationships[0].target"


def test_h40_a_stack_without_resources_is_true():
    seen = view(deployment(topology(blueprint(node("web", instances=0)))))
    assert bool(seen) is True
    assert (len(seen), list(seen), seen.preview_resources()) == (0, [], [])


def test_h35_who_looks_at_nothing_pays_for_no_instance():
    of = deployment(topology(blueprint(node("web", instances=1_000, properties={"size": 1}))))
    stack = StackView(of.as_is, "CREATE", "IN_PROGRESS")
    assert stack.resources._made == {}
    assert sum(one.properties["size"] for one in stack.resources.values()) == 1_000
    assert stack.resources["web_7"] is stack.resources["web_7"]
