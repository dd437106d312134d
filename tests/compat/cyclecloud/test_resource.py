"""Resources as records over documents: what is seen of them, what may be written, what is stored."""

from dataclasses import replace

import pytest
from tests.compat.cyclecloud.runs import BULK, CREATE, EACH, Make, messages, runs, words

from phaseline.calls.batches.bulk_call import BulkCall
from phaseline.calls.batches.trial_call import Subject, Trial, TrialMember
from phaseline.calls.protocol.call import DeploymentLookup, InstanceContext, NodeContext
from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.compat.cyclecloud.callers import PhaseCaller
from phaseline.compat.cyclecloud.resource import stored_of
from phaseline.model.phases.phase_data import PHASE_DATA
from phaseline.model.problems.problem import problem_error
from phaseline.records.values import ErrorValue

__all__ = ["runs"]


def test_a_resource_has_the_attributes_of_its_document_whatever_the_case(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    node, = handler.resources\n"
        "    assert node.getAsString('MACHINETYPE') == 'small' and node['disk.Size'] == 10\n"
        "    assert node['Name'] == 'vm_1' and node['ClusterName'] == 'app' and node['AdType'] == 'cloudify.nodes.Root'\n"
        "    assert not node.isDefined('PhaseMap') and '\\0phases' not in node\n"
        "    node['machinetype'] = 'large'\n"
        "    node['Disk.Kind'] = 'ssd'\n"
        "    node.remove('Old')\n"
        "    handler.setCompleted(node)\n"
    )
    world.edit(0, MachineType="small", Disk={"Size": 10}, Old=1)
    assert words(world.run(0)) == ["completed"]
    assert world.document(0) == {"MachineType": "large", "Disk": {"Size": 10, "Kind": "ssd"}}


def test_p33_phase_data_is_stored_and_seen_in_the_next_run(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    for node in handler.getResources():\n"
        "        data = handler.getResourcePhaseData(node)\n"
        "        assert data is handler.get_resource_phase_data(node)\n"
        "        if data.isDefined('OperationId'):\n"
        "            node.setString('Found', data.getAsString('operationid'))\n"
        "            assert node.getAsRecord('PhaseMap').getAsRecord(handler.getPhaseName())['OperationId'] == 'op-1'\n"
        "            handler.setCompleted(node)\n"
        "        else:\n"
        "            data.setString('OperationId', 'op-1')\n"
    )
    first = world.run(0)
    assert words(first) == ["again"]
    assert first.documents[0].written == {(PHASE_DATA, CREATE, "OperationId"): "op-1"}
    assert words(world.run(0)) == ["completed"]
    assert world.document(0)["Found"] == "op-1"
    assert world.data(0) == {"OperationId": "op-1"}, "a completed entry keeps it (R3)"


@pytest.mark.parametrize(
    "change",
    [
        "handler.getResourcePhaseData(node, 'Other.Phase')['Id'] = 2",
        "node.getAsRecord('PhaseMap').getAsRecord('Other.Phase').setInteger('Id', 2)",
        "node.set(\"PhaseMap.'Other.Phase'.Id\", 2)",
        "node.remove(\"PhaseMap.'Other.Phase'\")",
        "handler.getResourcePhaseData(node, 'Never.Run')['Id'] = 2",
    ],
)
def test_p34_the_data_of_another_phase_is_read_and_not_written(runs: Make, change: str) -> None:
    world = runs(
        "def handle(handler):\n"
        "    node, = handler.resources\n"
        "    assert handler.getResourcePhaseData(node, 'Other.Phase')['Id'] == 1\n"
        f"    {change}\n"
    )
    world.loaded.apply(0, {(PHASE_DATA, "Other.Phase", "Id"): 1}, ())
    answer = world.run(0)
    assert messages(answer)[0].startswith("ReadOnlyError: ")
    assert world.data(0, "Other.Phase") == {"Id": 1}


@pytest.mark.parametrize(
    "change",
    [
        "node.setString('TargetState', 'Terminated')",
        "node['state'] = 'Started'",
        "node.setBoolean('PhaseFailed', False)",
        "node.setRecord('PhaseMap', {})",
        "node['Name'] = 'other'",
        "node.remove('Name')",
        "node['AdType'] = 'Cloud.Disk'",
        "node['Id'] = 7",
        "node['\\0phases'] = {}",
        "handler.getResourcePhaseData(node)['Status'] = 'Completed'",
        "handler.getResourcePhaseData(node).setString('message', 'x')",
        "handler.getResourcePhaseData(node).remove('Attempt')",
    ],
)
def test_p37_what_only_the_engine_writes_cannot_be_written(runs: Make, change: str) -> None:
    world = runs(f"def handle(handler):\n    node, = handler.resources\n    {change}\n")
    answer = world.run(0)
    assert words(answer) == ["failed"]
    assert messages(answer)[0].startswith("ReadOnlyError: ")
    assert not answer.documents


def test_r11_what_others_write_meanwhile_stays_and_what_both_write_is_the_plugins(runs: Make) -> None:
    world = runs(
        "import threading\nopened = threading.Event()\n"
        "def handle(handler):\n"
        "    node, = handler.resources\n"
        "    node['Size'] = 2\n"
        "    node['Kind'] = 'b'\n"
        "    node['Same'] = 5\n"
        "    handler.log('info', 'written', node)\n"
        "    while not handler.isCanceling(node): opened.wait(0.01)\n"
        "    handler.setCompleted(node)\n"
    )
    world.edit(0, Size=1, Kind="a", Colour="red", Same=5)
    batch = world.batch(0)
    world.executor.submit(batch)
    begun = world.wait_for_line("written")
    world.edit(0, Colour="blue", Kind="c", Same=6)
    world.executor.cancel(batch.id, batch.segments[0].positions, kill=False)
    answer = world.wait(1, begun)
    assert world.document(0) == {"Size": 2, "Kind": "b", "Colour": "blue", "Same": 6}
    assert answer.lines[1:] == ["'Kind' was changed by others to 'c' meanwhile; the plugin's 'b' counts"]


def test_a_value_that_did_not_change_is_not_written(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n    handler.resources[0]['Size'] = 3\n    handler.resources[0].remove('None')\n"
    )
    world.edit(0, Size=3)
    assert not world.run(0).documents


def test_values_of_all_kinds_are_stored_and_come_back(runs: Make) -> None:
    world = runs(
        "from datetime import UTC, datetime, timedelta\n"
        "NOW = datetime(2026, 11, 21, tzinfo=UTC)\n"
        "def handle(handler):\n"
        "    node, = handler.resources\n"
        "    if 'When' in node:\n"
        "        assert node.getAsDate('When') == NOW and node.getAsList('Tags') == ['a', 2, None]\n"
        "        assert node['Full'] == 'vm_1.local' and node.getExpression('Full') == 'strcat(Name, \".local\")'\n"
        "        assert node['Disk.Parts'][1]['Size'] == 2\n"
        "        node['Disk.Parts'][1]['Size'] = 3\n"
        "        handler.setCompleted(node)\n"
        "    else:\n"
        "        node['When'] = NOW\n"
        "        node['Tags'] = ['a', 2, None]\n"
        "        node.setExpression('Full', 'strcat(Name, \".local\")')\n"
        "        node['Disk'] = {'Parts': [{'Size': 1}, {'Size': 2}]}\n"
    )
    assert words(world.run(0)) == ["again"]
    assert words(world.run(0)) == ["completed"]
    assert world.document(0)["Disk"] == {"Parts": [{"Size": 1}, {"Size": 3}]}
    assert world.document(0)["Full"] == {"$expr": 'strcat(Name, ".local")'}


def test_what_no_record_can_have_is_left_alone_and_says_so_when_it_is_read(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n    node, = handler.resources\n    node['Small'] = 1\n    node.getAsInteger('Huge')\n"
    )
    world.edit(0, Huge=2**70, Long="x" * 2_000_000, Odd={"$expr": "1 +"})
    answer = world.run(0)
    assert messages(answer)[0].startswith("AttributeTypeError: 'Huge' is an error: the integer has more than 64 bits")
    assert {key: type(value) for key, value in world.document(0).items()} == {
        "Huge": int,
        "Long": str,
        "Odd": dict,
        "Small": int,
    }
    assert isinstance(stored_of({"$expr": "1 +"}), ErrorValue)


def test_of_names_that_differ_by_case_alone_the_first_counts(runs: Make) -> None:
    world = runs("def handle(handler):\n    handler.resources[0]['SIZE'] = handler.resources[0]['size'] + 10\n")
    world.edit(0, Size=1, size=2)
    world.run(0)
    assert world.document(0) == {"Size": 11, "size": 2}


def test_resources_are_filtered_grouped_and_named(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    nodes = handler.getResources()\n"
        "    assert nodes is handler.getResources() and list(nodes) == list(nodes) and nodes.size() == 4\n"
        "    handler.setCompleted(nodes.filter('Size isnt undefined && Size > 1'))\n"
        "    assert {size: group.names() for size, group in nodes.groupBy('Size').items()} == {\n"
        "        None: ['vm_1'], 1: ['vm_2'], 2: ['vm_3', 'vm_4']}\n"
    )
    for instance, size in ((1, 1), (2, 2), (3, 2)):
        world.edit(instance, Size=size)
    assert words(world.run(0, 1, 2, 3)) == ["again", "again", "completed", "completed"]


def test_p99_a_snapshot_does_not_follow_and_cannot_be_written(runs: Make) -> None:
    world = runs(
        "def handle(handler):\n"
        "    node, = handler.resources\n"
        "    kept = node.snapshot()\n"
        "    node['Size'] = 2\n"
        "    node['Disk.Size'] = 20\n"
        "    assert kept['Size'] == 1 and kept['Disk.Size'] == 10\n"
        "    for record in (kept, kept.getAsRecord('Disk')):\n"
        "        try: record['Size'] = 3\n"
        "        except TypeError: continue\n"
        "        assert False, 'a snapshot was written'\n"
        "    handler.setCompleted(node)\n"
    )
    world.edit(0, Size=1, Disk={"Size": 10})
    assert words(world.run(0)) == ["completed"]
    assert world.document(0)["Size"] == 2


def test_a_resource_that_nobody_touches_is_not_even_read(runs: Make) -> None:
    world = runs("def handle(handler):\n    handler.setCompleted(handler.resources)\n    del handler\n")
    answer = world.run(0, 1, 2, 3)
    assert words(answer) == ["completed"] * 4


def test_a_resource_knows_the_target_of_its_execution_and_may_have_a_type_nobody_can_tell() -> None:
    trial = Trial([TrialMember(Subject("vm"))])
    made = trial.call_at(0)
    made.site = replace(made.site, execution=replace(made.site.execution, parameters={"target": "Started"}))
    made.owner.world = Unreadable(made.owner.world)
    run = PhaseCaller().gather(BulkCall(1, trial.call_at, trial.say))
    (node,) = run.resources
    assert node["TargetState"] == "Started"
    assert "AdType" not in node
    assert not hasattr(node, "getAsText")
    node.forget_changes()
    assert node.changes() == {}


class Unreadable:
    """A world in which the properties of nodes cannot be evaluated."""

    def __init__(self, world: DeploymentLookup) -> None:
        self._world = world

    def node(self, instance: InstanceContext) -> NodeContext:
        raise problem_error("PL-B074", "the property 'ip' cannot be evaluated", "Correct it.")

    def __getattr__(self, name: str) -> object:
        return getattr(self._world, name)


NATIVE = (
    "from phaseline import operation\n"
    "@operation(bulk=True)\n"
    "def handle(batch):\n"
    "    assert batch[0].runtime_properties == {'Size': 1}\n"
    "    batch[0].runtime_properties.clear()\n"
    "    batch[0].runtime_properties['Kind'] = 'ssd'\n"
)
CLOUDIFY = (
    "from cloudify import ctx\n"
    "from cloudify.decorators import operation\n"
    "@operation\n"
    "def handle(ctx, **_):\n"
    "    assert dict(ctx.instance.runtime_properties) == {'Size': 1}\n"
    "    ctx.instance.runtime_properties = {'Kind': 'ssd'}\n"
)


@pytest.mark.parametrize("text", [NATIVE, CLOUDIFY], ids=["native", "cloudify"])
def test_operations_beside_phases_neither_see_nor_lose_what_phases_keep(runs: Make, text: str) -> None:
    world = runs(text, policy=BULK if text is NATIVE else EACH, catalog=PluginCatalog())
    world.edit(0, Size=1)
    world.loaded.apply(0, {(PHASE_DATA, "Acme.Create", "Id"): 1}, ())
    answer = world.run(0)
    assert words(answer) == ["completed"], messages(answer)
    assert world.document(0) == {"Kind": "ssd", PHASE_DATA: {"Acme.Create": {"Id": 1}}}
