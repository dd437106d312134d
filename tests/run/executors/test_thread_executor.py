"""Functions called in the engine's own process: bulk, one by one, async."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.worlds import CREATE, LaneSpec, Policy, WallClock, World, make_blueprint, plugin, silenced

from phaseline.calls.protocol.call import MAX_LINE_CHARS, MAX_LINES
from phaseline.model.blueprint.blueprint import Node
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import ASKED, DocumentChange
from phaseline.run.executors.local_executor import Slots
from phaseline.testing.builders import node, operation, relationship

BULK = Policy(LaneSpec(CREATE, "bulk"))
Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, *nodes: Node, **fields: Any) -> World:
        plugin(tmp_path, "from phaseline import operation, RecoverableError, NonRecoverableError\n" + text)
        nodes = nodes or (node("vm", create="cloud.create", instances=4, properties={"size": 3}),)
        made.append(World(tmp_path, make_blueprint(*nodes), **fields))
        return made[-1]

    yield build
    for world in made:
        world.close()


def test_a_bulk_function_that_says_nothing_completes_all_with_one_report(make: Make) -> None:
    world = make("@operation(bulk=True)\ndef create(batch): assert len(batch) == 4\n", policy=BULK)
    answer = world.run(0, 1, 2, 3)
    assert set(answer.kinds.values()) == {OutcomeKind.COMPLETED}
    assert len(answer.reports) == 1
    assert not answer.remarks
    assert not answer.documents


def test_wd12_marks_differ_by_item_and_the_unmarked_are_completed(make: Make) -> None:
    world = make(
        "@operation(bulk=True)\n"
        "def create(batch):\n"
        "    batch[0].fail('no quota')\n"
        "    batch[1].again(after_s=5, message='booting')\n"
        "    batch.fail([batch[2]], 'busy', retry=True)\n",
        policy=BULK,
    )
    answer = world.run(0, 1, 2, 3)
    assert answer.kinds == {
        0: OutcomeKind.FAILED,
        1: OutcomeKind.AGAIN,
        2: OutcomeKind.RETRY,
        3: OutcomeKind.COMPLETED,
    }
    assert answer.delays == {0: -1, 1: 5000, 2: -1, 3: -1}
    assert {member: remark.message for member, remark in answer.remarks.items()} == {
        0: "no quota",
        1: "booting",
        2: "busy",
    }


def test_w2_what_a_bulk_function_raises_is_a_retry_of_all_that_are_unmarked(make: Make) -> None:
    world = make(
        "@operation(bulk=True)\ndef create(batch):\n    batch[1].complete()\n    raise RuntimeError('cloud is down')\n",
        policy=BULK,
    )
    answer = world.run(0, 1, 2)
    assert answer.kinds == {0: OutcomeKind.RETRY, 1: OutcomeKind.COMPLETED, 2: OutcomeKind.RETRY}
    assert answer.remarks[0].message == "cloud is down"
    assert answer.remarks[0].error["type"] == "RuntimeError"
    assert "cloud.py" in answer.remarks[0].error["traceback"]
    assert "threads.py" not in answer.remarks[0].error["traceback"]


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("@operation(bulk=True)\ndef create(batch): batch.again(batch, 5, 'booting')\n", BULK),
        ("@operation\ndef create(item): item.again(5, 'booting')\n", None),
    ],
)
def test_who_failed_before_and_asks_for_another_call_is_remembered_as_one_that_asked(
    make: Make, text: str, policy: Policy | None
) -> None:
    world = make(text, policy=policy)
    assert world.run(0, attempts=1).remarks[0].error == ASKED
    assert world.run(0, attempts=0).remarks[0].error == {}


@pytest.mark.parametrize(
    ("raised", "kind", "delay"),
    [
        ("NonRecoverableError('x')", OutcomeKind.FAILED, -1),
        ("RecoverableError('x')", OutcomeKind.RETRY, -1),
        ("RecoverableError('x', retry_after=2)", OutcomeKind.RETRY, 2000),
        ("ValueError('x')", OutcomeKind.RETRY, -1),
        ("SystemExit(3)", OutcomeKind.FAILED, -1),
    ],
)
def test_w2_exceptions_of_an_item_function(make: Make, raised: str, kind: OutcomeKind, delay: int) -> None:
    world = make(f"@operation\ndef create(item): raise {raised}\n")
    answer = world.run(0)
    assert answer.kind is kind
    assert answer.delays == {0: delay}


def test_wd12_an_item_shows_its_instance(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        "    assert item.properties == {'size': 3}\n"
        "    assert item.inputs == {'zone': 'a', 'deep': {'n': 7}}\n"
        "    assert (item.instance_id, item.node_id, item.deployment_id) == ('vm_2', 'vm', 'app')\n"
        "    assert (item.attempt, item.token) == (2, 'named-1-1-0')\n"
        "    assert item.source is None and item.target is None and item.decisions == {}\n"
        "    item.log.warning('%s is %d', 'made', 1)\n"
        "    item.runtime_properties['machine'] = {'id': 7}\n",
        node(
            "vm",
            create=operation(
                CREATE, "cloud.create", inputs={"zone": "a", "deep": {"n": {"get_input": "n"}}}, has_functions=True
            ),
            instances=2,
            properties={"size": 3},
        ),
        inputs={"n": 7},
        identity="named",
    )
    answer = world.run(1, attempts=2)
    assert answer.kind is OutcomeKind.COMPLETED, answer.message
    assert answer.documents == [DocumentChange(world.deployment, 1, {("machine",): {"id": 7}})]
    (line,) = answer.logs
    assert (line.text, line.level, line.instance, line.operation) == ("made is 1", "warning", 1, CREATE)


def test_b42_inputs_are_evaluated_at_the_call_from_what_earlier_calls_wrote(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        "    item.runtime_properties['seen'] = item.inputs['ip']\n"
        "@operation\ndef boot(item): item.runtime_properties['ip'] = '10.0.0.1'\n",
        node("host", create="cloud.boot"),
        node(
            "web",
            to=["host"],
            create=operation(
                CREATE, "cloud.create", inputs={"ip": {"get_attribute": ["host", "ip"]}}, has_functions=True
            ),
        ),
    )
    world.run(0)
    assert world.run(1).documents[0].written == {("seen",): "10.0.0.1"}


def test_inputs_that_cannot_be_evaluated_fail_the_call_for_good(make: Make) -> None:
    inputs = {"ip": {"get_attribute": ["vm", "ip"]}}
    world = make(
        "@operation\ndef create(item): item.inputs\n",
        node("vm", instances=2),
        node("web", create=operation(CREATE, "cloud.create", inputs=inputs, has_functions=True)),
    )
    answer = world.run(2)
    assert answer.kind is OutcomeKind.FAILED
    assert "unambiguously" in answer.message


def test_c4_changes_deep_inside_runtime_properties_are_stored_after_an_exception_too(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        "    if 'net' in item.runtime_properties:\n"
        "        item.runtime_properties['net']['ip'] = 2\n"
        "        del item.runtime_properties['old']\n"
        "        raise ValueError('after the change')\n"
        "    item.runtime_properties.update(net={'ip': 1, 'mask': 8}, old=1)\n"
    )
    world.run(0)
    answer = world.run(0)
    assert answer.documents == [DocumentChange(world.deployment, 0, {("net", "ip"): 2}, (("old",),))]
    assert world.deployments.loaded(world.deployment).document_of(0) == {"net": {"ip": 2, "mask": 8}}


def test_a_value_that_cannot_be_stored_fails_only_its_own_member(make: Make) -> None:
    world = make(
        "@operation(bulk=True)\ndef create(batch):\n"
        "    batch[0].runtime_properties['a'] = {'file': object()}\n"
        "    batch[1].runtime_properties['a'] = (1, 2)\n",
        policy=BULK,
    )
    answer = world.run(0, 1)
    assert answer.kinds == {0: OutcomeKind.FAILED, 1: OutcomeKind.COMPLETED}
    assert "'a.file' is of type object" in answer.remarks[0].message
    assert answer.documents == [DocumentChange(world.deployment, 1, {("a",): [1, 2]})]


def test_members_of_different_functions_are_different_calls(make: Make) -> None:
    world = make(
        "@operation(bulk=True)\ndef create(batch): batch.fail(None, f'one {len(batch)}')\n"
        "@operation(bulk=True)\ndef other(batch): batch.fail(None, f'two {len(batch)}')\n",
        node("a", create="cloud.create", instances=2),
        node("b", create="cloud.other", instances=3),
        policy=BULK,
    )
    answer = world.run(0, 1, 2, 3, 4)
    assert [answer.remarks[member].message for member in range(5)] == ["one 2"] * 2 + ["two 3"] * 3


@pytest.mark.parametrize("policy", [BULK, None])
@pytest.mark.parametrize("name", ["cloud.absent", "absent.create", "broken.create"])
def test_w2_a_function_that_cannot_be_loaded_fails_for_good(
    make: Make, policy: Policy | None, name: str, tmp_path: Path
) -> None:
    plugin(tmp_path, "import not_there\n", "broken")
    world = make("", node("vm", create=name), policy=policy)
    answer = world.run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert f"'{name}' cannot be loaded" in answer.message


def test_calls_that_block_run_at_once_up_to_the_slots(make: Make) -> None:
    world = make(
        "import threading\nmeeting = threading.Barrier(4)\n@operation\ndef create(item): meeting.wait(60)\n",
    )
    assert set(world.run(0, 1, 2, 3).kinds.values()) == {OutcomeKind.COMPLETED}


def test_an_outcome_is_posted_while_its_neighbour_still_runs(make: Make) -> None:
    world = make(
        "import threading\nopened = threading.Event()\n"
        "@operation\ndef create(item):\n"
        "    if item.instance_id == 'vm_1': assert opened.wait(60)\n"
        "    if item.instance_id == 'vm_4': opened.set()\n"
    )
    world.executor.submit(world.batch(0, 1))
    assert world.wait(1).kinds == {1: OutcomeKind.COMPLETED}
    world.executor.submit(world.batch(3))
    world.wait(2)


def test_c2_a_cloudify_function_gets_ctx_and_its_inputs(make: Make) -> None:
    world = make(
        "def create(ctx, zone, **_):\n"
        "    ctx.instance.runtime_properties['zone'] = zone\n"
        "    ctx.logger.info('in %s', ctx.node.properties['size'])\n"
        "    return {'done': True}\n",
        node("vm", create=operation(CREATE, "cloud.create", inputs={"zone": "a"}), properties={"size": 3}),
    )
    answer = world.run(0)
    assert answer.kind is OutcomeKind.COMPLETED
    assert answer.documents[0].written == {("zone",): "a"}
    assert answer.lines == ["in 3"]
    assert answer.remarks[0].result == {"done": True}


def test_w3_until_true_asks_again_after_the_interval(make: Make) -> None:
    policy = Policy(LaneSpec(CREATE, "each"), until_true=True, retry_interval_ms=700)
    world = make("calls = []\ndef create(ctx, **_):\n    calls.append(1)\n    return len(calls) > 1\n", policy=policy)
    first = world.run(0)
    assert (first.kind, first.delays) == (OutcomeKind.AGAIN, {0: 700})
    assert world.run(0).kind is OutcomeKind.COMPLETED


def test_relationship_operations_see_both_sides(make: Make) -> None:
    world = make(
        "@operation\ndef link(item):\n"
        "    assert (item.source.id, item.target.id) == ('web_1', 'db_1')\n"
        "    assert item.instance_id == 'web_1'\n"
        "    item.source.runtime_properties['to'] = item.target.id\n"
        "    item.target.runtime_properties['from'] = item.source.id\n",
        node("db"),
        node("web", relationship("db", source={"establish": "cloud.link"})),
        kind=SubjectKind.SOURCE,
        phase="cloudify.interfaces.relationship_lifecycle.establish",
    )
    answer = world.run(0)
    assert answer.kind is OutcomeKind.COMPLETED, answer.message
    assert {(change.instance, *change.written) for change in answer.documents} == {(1, ("to",)), (0, ("from",))}


def test_item_data_reaches_the_next_call_and_goes_with_completion(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        "    item.data['calls'] = item.data.get('calls', 0) + 1\n"
        "    if item.data['calls'] < 3: item.again(0)\n"
    )
    answers = [world.run(0) for _ in range(4)]
    assert [answer.kind for answer in answers] == [
        OutcomeKind.AGAIN,
        OutcomeKind.AGAIN,
        OutcomeKind.COMPLETED,
        OutcomeKind.AGAIN,
    ]
    assert answers[1].remarks[0].result == {"calls": 2}


def test_canceled_members_that_have_not_begun_come_back_uncalled(make: Make) -> None:
    world = make(
        "import threading\nnever = threading.Event()\n"
        "@operation\ndef create(item):\n"
        "    item.log.info('began')\n"
        "    while not item.is_canceled: never.wait(0.01)\n",
        slots=Slots(threads=1),
    )
    batch = world.batch(0, 1)
    world.executor.submit(batch)
    begun = world.wait_for_line("began")
    world.executor.cancel(batch.id, np.array([0, 1], np.int32), kill=False)
    answer = world.wait(2, begun)
    assert answer.kinds == {0: OutcomeKind.COMPLETED, 1: OutcomeKind.AGAIN}
    assert answer.lines == ["began"]


def test_a_bulk_call_past_its_deadline_is_given_up_and_its_late_data_kept(make: Make, tmp_path: Path) -> None:
    policy = Policy(LaneSpec(CREATE, "bulk"), timeout_ms=50, timeout_recoverable=True)
    world = make(
        "import threading\nfrom pathlib import Path\nopened = threading.Event()\n"
        "@operation(bulk=True)\ndef create(batch):\n"
        "    if batch[0].instance_id == 'vm_1':\n"
        "        Path(__file__).with_name('begun').touch()\n"
        "        assert opened.wait(60)\n"
        "        batch[0].runtime_properties['late'] = 1\n"
        "    else: opened.set()\n",
        policy=policy,
    )
    with silenced(world.executor._poster.alarms):
        world.executor.submit(world.batch(0, deadline_at=WallClock().now() + 50))
        while not (tmp_path / "plugins" / "begun").exists():
            world.inbox.wait(5)
    answer = world.wait(1)
    assert answer.kind is OutcomeKind.RETRY
    assert "timed out after 0.05 s" in answer.message
    freeing = world.run(1)
    late = freeing if freeing.documents else world.wait_for_document()
    assert late.documents == [DocumentChange(world.deployment, 0, {("late",): 1})]


def test_wd12_a_batch_is_a_sequence_of_items(make: Make) -> None:
    world = make(
        "@operation(bulk=True)\ndef create(batch):\n"
        "    assert [item.instance_id for item in batch] == ['vm_1', 'vm_2', 'vm_3', 'vm_4']\n"
        "    assert batch[-1].instance_id == 'vm_4' and repr(batch[0]) == \"Item('vm_1')\"\n"
        "    assert [item.instance_id for item in batch[1:3]] == ['vm_2', 'vm_3']\n"
        "    assert batch[0].execution_id.startswith('install-') and not batch[0].is_canceled\n"
        "    batch[0].runtime_properties['a'] = 1\n"
        "    assert batch[0].runtime_properties == {'a': 1}, 'items of one place are interchangeable'\n"
        "    batch.again(batch[:2], 3)\n"
        "    batch[1].complete()\n"
        "    batch.complete([batch[2]])\n"
        "    batch.fail(None, 'the rest', retry=True)\n",
        policy=BULK,
    )
    answer = world.run(0, 1, 2, 3)
    assert list(answer.kinds.values()) == [
        OutcomeKind.AGAIN,
        OutcomeKind.COMPLETED,
        OutcomeKind.COMPLETED,
        OutcomeKind.RETRY,
    ]
    assert answer.delays == {0: 3000, 1: -1, 2: -1, 3: -1}


def test_a_mark_made_after_the_function_returned_is_too_late(make: Make) -> None:
    world = make(
        "kept = []\n@operation(bulk=True)\ndef create(batch):\n"
        "    for item in kept: item.fail('late')\n    kept.extend(batch)\n",
        policy=BULK,
    )
    assert world.run(0).kind is OutcomeKind.COMPLETED
    assert world.run(1).kind is OutcomeKind.COMPLETED


def test_a_retry_that_succeeds_takes_the_former_message_away(make: Make) -> None:
    for policy in (BULK, None):
        world = make("@operation(bulk=True)\ndef create(batch): ...\n", policy=policy)
        assert world.run(0, attempts=0).remarks == {}
        assert world.run(0, attempts=1).remarks[0].message == ""


def test_a_function_that_lost_its_bulk_declaration_is_called_one_by_one(make: Make) -> None:
    world = make("@operation\ndef create(item): item.log.debug(item.instance_id)\n", policy=BULK)
    answer = world.run(0, 1)
    assert answer.lines == ["vm_1", "vm_2"]
    assert set(answer.kinds.values()) == {OutcomeKind.COMPLETED}


def test_an_operation_that_is_no_longer_mapped_fails_for_good(make: Make) -> None:
    for policy in (BULK, None):
        answer = make("", node("vm"), policy=policy).run(0)
        assert answer.kind is OutcomeKind.FAILED
        assert "mapped" in answer.message


def test_lines_of_one_call_are_bounded(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        f"    for number in range({MAX_LINES} + 5): item.log.info('x' * 20_000 if number == 0 else 'y')\n"
    )
    lines = world.run(0).lines
    assert len(lines) == MAX_LINES + 1
    assert len(lines[0]) < 2 * MAX_LINE_CHARS
    assert "characters left out" in lines[0]
    assert "left out" in lines[-1]


def test_properties_with_functions_are_evaluated_for_each_instance(make: Make) -> None:
    vm = node(
        "vm", create="cloud.create", instances=2, properties={"me": {"get_attribute": ["SELF", "node_instance_id"]}}
    )
    world = make(
        "@operation\ndef create(item): item.runtime_properties['me'] = item.properties['me']\n",
        replace(vm, has_functions=True),
    )
    assert {change.instance: change.written["me",] for change in world.run(0, 1).documents} == {0: "vm_1", 1: "vm_2"}


def test_what_was_written_before_is_known_after_the_engine_came_back(make: Make) -> None:
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.model.execution.events import Changes
    from phaseline.model.rows.rows import EntryRemark, Turn, TurnPayload

    world = make("@operation\ndef create(item): item.runtime_properties['a'] = 1\n")
    answer = world.run(0)
    data = EntryRemark(1, 0, result={"calls": 2})
    world.store.commit(Turn(2, Changes(), TurnPayload(documents=answer.documents, remarks=[data])))
    fresh = DeploymentCache(world.store)
    assert fresh.loaded(world.deployment).document_of(0) == {"a": 1}
    assert fresh.data(1) == {0: {"calls": 2}}
    assert fresh.policies(1) == (world.policy,)
    assert fresh.execution(world.execution.number, world.deployment).workflow == "install"
    with pytest.raises(KeyError):
        fresh.loaded(99)
