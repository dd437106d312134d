"""Real worker processes: reused, killed, replaced; scripts with children; what they say arrives while they run."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.worlds import CREATE, PATIENCE_S, Answer, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.calls.threads.process_groups import await_end, is_alive, marked
from phaseline.model.blueprint.blueprint import Node
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import BatchRow, DocumentChange
from phaseline.run.executors.local_executor import LocalExecutor, Slots
from phaseline.testing.builders import node, operation

EACH = Policy(LaneSpec(CREATE, "each", "workers"))
Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, *nodes: Node, instances: int = 4, **fields: Any) -> World:
        plugin(tmp_path, "import os, sys, time\nfrom phaseline import operation\n" + text)
        nodes = nodes or (node("vm", create="cloud.create", instances=instances, properties={"size": 3}),)
        fields = {"policy": EACH, "slots": Slots(workers=2), **fields}
        made.append(World(tmp_path, make_blueprint(*nodes), **fields))
        return made[-1]

    yield build
    for world in made:
        world.close()


def script(folder: Path, text: str, name: str = "scripts/create.sh") -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n" + text)
    return file


def gone(pid: int) -> bool:
    return await_end(lambda: {pid} if is_alive(pid) else set(), PATIENCE_S)


def out_of_time(make: Callable[[int], World], is_far: Callable[[Answer], bool]) -> tuple[World, Answer]:
    """A call whose time is over, and what came of it; with more time each, until it had come so far as it is to be ended."""
    for timeout_ms in (400, 2_000, 10_000, 40_000):
        world = make(timeout_ms)
        answer = world.run(0)
        assert f"timed out after {timeout_ms / 1000:g} s" in answer.message
        if is_far(answer):
            return world, answer
    raise AssertionError(f"it never comes so far: {answer}")


def test_s11_a_worker_is_warm_and_reused(make: Make) -> None:
    world = make("@operation\ndef create(item): item.runtime_properties['pid'] = os.getpid()\n", slots=Slots(workers=1))
    pids = {change.written["pid",] for change in world.run(0, 1, 2, 3).documents}
    assert len(pids) == 1
    assert os.getpid() not in pids


def test_c2_functions_see_in_a_worker_what_they_see_in_the_engine(make: Make) -> None:
    world = make(
        "def create(ctx, zone, **_):\n"
        "    assert ctx.node.properties['size'] == 3 and ctx.instance.id == 'vm_2'\n"
        "    ctx.instance.runtime_properties['zone'] = zone\n"
        "    ctx.logger.warning('look')\n"
        "    print('printed')\n"
        "    print('complained', file=sys.stderr)\n"
        "    return [1]\n",
        node(
            "vm",
            create=operation(CREATE, "cloud.create", inputs={"zone": {"get_input": "zone"}}, has_functions=True),
            instances=2,
            properties={"size": 3},
        ),
        inputs={"zone": "b"},
    )
    answer = world.run(1)
    assert answer.kind is OutcomeKind.COMPLETED, answer.message
    assert answer.documents == [DocumentChange(world.deployment, 1, {("zone",): "b"})]
    assert answer.remarks[0].result == [1]
    assert {(line.level, line.text) for line in answer.logs} == {
        ("warning", "look"),
        ("info", "<out> printed"),
        ("info", "<err> complained"),
    }


COUNTING = """
def create(ctx, **_):
    def count(local, latest):
        return {**latest, "count": latest.get("count", 0) + 1}

    for _ in range(25):
        ctx.instance.update(count)
"""


@pytest.mark.parametrize("pool", ["threads", "workers"])
def test_c4_updates_by_a_handler_lose_nothing_that_other_calls_store(make: Make, pool: str) -> None:
    world = make(COUNTING, policy=Policy(LaneSpec(CREATE, "each", pool)), slots=Slots(threads=4, workers=4))
    answer = world.run(0, 0, 0, 0)
    assert set(answer.kinds.values()) == {OutcomeKind.COMPLETED}, answer.remarks
    assert world.deployments.loaded(world.deployment).document_of(0) == {"count": 100}


def test_what_a_worker_says_arrives_while_the_call_runs(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n    print('begun', flush=True)\n"
        "    while not item.is_canceled: time.sleep(0.01)\n"
    )
    batch = world.batch(0)
    world.executor.submit(batch)
    begun = world.wait_for_line("begun")
    assert not begun.kinds
    world.executor.cancel(batch.id, np.array([0], np.int32), kill=False)
    assert world.wait(1).kind is OutcomeKind.COMPLETED


def test_a_cancel_that_comes_while_a_worker_is_made_for_the_call_is_not_lost(make: Make) -> None:
    world = make("@operation\ndef create(item):\n    while not item.is_canceled: time.sleep(0.01)\n")
    batch, executor = world.batch(0), world.executor
    with executor._processes()._lock:
        executor.submit(batch)
        handover = executor._open[batch.id]
        while not executor.is_busy():
            world.inbox.wait(5)
        canceling = threading.Thread(
            target=executor.cancel, args=(batch.id, np.array([0], np.int32)), kwargs={"kill": False}
        )
        canceling.start()
        while not handover.canceled:
            world.inbox.wait(5)
    canceling.join()
    assert world.wait(1).kind in {OutcomeKind.AGAIN, OutcomeKind.COMPLETED}


def test_a_worker_that_is_about_to_be_killed_gets_no_other_call(make: Make) -> None:
    """The call may end before the kill begins."""
    world = make("@operation\ndef create(item): item.runtime_properties['pid'] = os.getpid()\n", slots=Slots(workers=1))
    (before,) = (change.written["pid",] for change in world.run(0).documents)
    (worker,) = world.executor._processes()._workers
    assert (worker.pid, worker.is_alive()) == (before, True)
    worker.condemn()
    (after,) = (change.written["pid",] for change in world.run(1).documents)
    assert after != before
    worker.kill("of a call that has ended")
    assert world.run(2).kind is OutcomeKind.COMPLETED


def test_runtime_properties_saved_in_the_middle_of_a_call_survive_its_kill(make: Make) -> None:
    world = make(
        "def create(ctx, **_):\n"
        "    ctx.instance.runtime_properties['vm'] = 7\n"
        "    ctx.instance.update()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    answer = world.run(0)
    assert answer.documents == [DocumentChange(world.deployment, 0, {("vm",): 7})]
    assert world.deployments.loaded(world.deployment).document_of(0) == {"vm": 7}


def test_w2_a_process_that_dies_by_a_signal_fails_for_good_and_is_replaced(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n    if item.instance_id == 'vm_1': os.kill(os.getpid(), 9)\n",
        slots=Slots(workers=1),
    )
    answer = world.run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert "ended by signal SIGKILL" in answer.message
    assert world.run(1).kind is OutcomeKind.COMPLETED


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_script_whose_worker_is_killed_is_ended_before_ctx_fails_and_is_unsure(
    make: Make, tmp_path: Path, number: signal.Signals
) -> None:
    text = "echo begun $PPID $$\nwhile ctx instance id >/dev/null; do :; done\n"
    script(tmp_path, f"{text}echo went on >{tmp_path}/went-on\n")
    world = make("", node("vm", create="scripts/create.sh"))
    batch = world.batch(0)
    world.executor.submit(batch)
    begun = world.wait_for_line("begun")
    worker, pid = map(int, next(line for line in begun.lines if "begun" in line).split()[-2:])
    os.kill(worker, number)
    answer = world.wait(1, begun)
    assert (answer.kind, gone(pid)) == (OutcomeKind.UNSURE, True)
    assert f"ended by signal {number.name}; the script was ended too" in answer.message
    assert not (tmp_path / "went-on").exists()


def test_w2_a_process_that_leaves_fails_for_good(make: Make) -> None:
    answer = make("@operation\ndef create(item): os._exit(3)\n").run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert "ended with exit code 3" in answer.message


@pytest.mark.parametrize(("recoverable", "kind"), [(False, OutcomeKind.FAILED), (True, OutcomeKind.RETRY)])
def test_w2_a_time_out_ends_the_process(make: Make, recoverable: bool, kind: OutcomeKind) -> None:
    world = make(
        "print(os.getpid(), flush=True)\n"  # loading is not in the time of the operation
        "@operation\ndef create(item):\n"
        "    if item.attempt == 0: time.sleep(60)\n",
        policy=replace(EACH, timeout_ms=300, timeout_recoverable=recoverable),
        slots=Slots(workers=1),
    )
    answer = world.run(0)
    assert answer.kind is kind
    assert "timed out after 0.3 s" in answer.message
    assert gone(int(answer.lines[0].split()[-1]))
    assert any(world.run(1, attempts=attempt).kind is OutcomeKind.COMPLETED for attempt in range(1, 50))


def test_s3_a_script_says_its_lines_live_and_sets_runtime_properties(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "echo one\nctx instance runtime-properties port $port\nctx logger info two\n")
    world = make(
        "",
        node("vm", create=operation(CREATE, "scripts/create.sh", inputs={"port": 80})),
    )
    answer = world.run(0)
    assert answer.kind is OutcomeKind.COMPLETED, answer.message
    assert answer.documents[0].written == {("port",): "80"}
    assert "<out> one" in answer.lines
    assert "two" in answer.lines


def test_a_call_in_a_worker_may_ask_for_everything_around_it(make: Make) -> None:
    world = make(
        "def create(ctx, **_):\n"
        "    me = ctx.instance\n"
        "    (link,) = me.relationships\n"
        "    me.runtime_properties['seen'] = [\n"
        "        link.target.instance.id, link.target.node.properties['size'], dict(link.target.instance.runtime_properties),\n"
        "    ]\n"
        "@operation\ndef item(item):\n"
        "    world, me = item._call.world, item._call.instance\n"
        "    other = world.instance('db_1')\n"
        "    item.runtime_properties['around'] = [\n"
        "        me.state, me.host, me.index, other.node.name, other.state, list(world.instances_of('web')),\n"
        "        item.inputs['db'], world.evaluate({'get_attribute': ['db', 'ip']}, item._call),\n"
        "        [link.target for link in me.relationships], item.token, item.attempt,\n"
        "    ]\n"
        "    try: world.instance('nobody')\n"
        "    except KeyError as error: item.runtime_properties['missing'] = error.args[0]\n"
        "    try: world.evaluate({'get_attribute': ['nobody', 'ip']}, item._call)\n"
        "    except Exception as error: item.runtime_properties['problem'] = type(error).__name__\n"
        "@operation\ndef boot(item): item.runtime_properties['ip'] = '10.0.0.1'\n",
        node("db", create="cloud.boot", properties={"size": 3}),
        node("web", to=["db"], create="cloud.create"),
        node(
            "app",
            to=["db"],
            create=operation(CREATE, "cloud.item", inputs={"db": {"get_attribute": ["db", "ip"]}}, has_functions=True),
        ),
    )
    number = world.topology.number_of
    world.run(number["db_1"])
    seen = world.run(number["web_1"])
    assert seen.kind is OutcomeKind.COMPLETED, seen.message
    assert seen.documents[0].written == {("seen",): ["db_1", 3, {"ip": "10.0.0.1"}]}
    around = world.run(number["app_1"])
    assert around.kind is OutcomeKind.COMPLETED, around.message
    token = f"{world.identity}-1-{number['app_1']}-0"
    assert around.documents[0].written == {
        ("around",): [
            "uninitialized", None, 1, "db", "uninitialized", ["web_1"], "10.0.0.1", "10.0.0.1", ["db_1"], token, 0,
        ],
        ("missing",): "nobody",
        ("problem",): "ProblemsError",
    }  # fmt: skip


def test_item_data_reaches_the_next_call_in_another_process(make: Make) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        "    item.data['pids'] = [*item.data.get('pids', []), os.getpid()]\n"
        "    item.again(0) if len(item.data['pids']) < 2 else item.fail(str(len(set(item.data['pids']))))\n"
        "    os.write(1, b'no end of line')\n"
    )
    first = world.run(0)
    assert first.kind is OutcomeKind.AGAIN
    assert first.lines == ["<out> no end of line"]
    assert world.run(0).kind is OutcomeKind.FAILED


@pytest.mark.parametrize("name", ["cloud.absent", "nowhere.create"])
def test_w2_a_function_that_cannot_be_loaded_fails_for_good_in_a_worker_too(make: Make, name: str) -> None:
    answer = make("", node("vm", create=name)).run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert f"'{name}' cannot be loaded" in answer.message


def test_a_value_that_cannot_be_stored_fails_the_call_in_a_worker_too(make: Make) -> None:
    answer = make("@operation\ndef create(item): item.runtime_properties['f'] = object()\n").run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert "runtime property 'f' is of type object" in answer.message


def test_inputs_that_cannot_be_evaluated_begin_no_process(make: Make) -> None:
    inputs = {"ip": {"get_attribute": ["nobody", "ip"]}}
    create = operation(CREATE, "cloud.create", inputs=inputs, has_functions=True)
    answer = make("@operation\ndef create(item): ...\n", node("vm", create=create)).run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert "nobody" in answer.message


def test_s3_a_script_sees_the_environment_of_the_engine(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "echo path=$PYTHONPATH. call=$PHASELINE_CALL\n")
    world = make("", node("vm", create="scripts/create.sh"))
    assert f"<out> path={os.environ.get('PYTHONPATH', '')}. call={world.identity}:1:0" in world.run(0).lines


def test_a_time_out_ends_a_script_with_its_grandchildren_even_in_sessions_of_their_own(
    make: Make, tmp_path: Path
) -> None:
    script(tmp_path, "setsid sleep 300 &\necho pid $!\nsh -c 'sleep 301 & echo pid $!; wait'\n")
    vm = node("vm", create="scripts/create.sh")
    world, answer = out_of_time(
        lambda timeout_ms: make("", vm, policy=replace(EACH, timeout_ms=timeout_ms)),
        lambda answer: sum("pid" in line for line in answer.lines) == 2,
    )
    assert answer.kind is OutcomeKind.FAILED
    assert all(gone(int(line.split()[-1])) for line in answer.lines if "pid" in line)
    assert not marked(lambda mark: mark.startswith(f"{world.identity}:"))


def test_what_a_finished_script_leaves_running_on_purpose_stays(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "sleep 300 >/dev/null 2>&1 &\necho pid $!\n")
    world = make("", node("vm", create="scripts/create.sh", instances=2))
    answer = world.run(0)
    (pid,) = [int(line.split()[-1]) for line in answer.lines if "pid" in line]
    kinds = np.array([OutcomeKind.COMPLETED], np.uint8)
    row = BatchRow(1, CREATE, MemberPositions.of([(1, np.array([0], np.int32))]), 0, 0, 0, kinds)
    world.executor.recover([row])
    assert is_alive(pid)
    world.executor.recover([replace(row, kinds=None)])
    assert gone(pid)


def test_decision_2_kill_ends_the_processes_of_a_call(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "echo pid $$\nsleep 300\n")
    world = make("", node("vm", create="scripts/create.sh"))
    batch = world.batch(0)
    world.executor.submit(batch)
    begun = world.wait_for_line("pid")
    world.executor.cancel(batch.id, np.array([0], np.int32), kill=True)
    answer = world.wait(1, begun)
    assert answer.kind is OutcomeKind.FAILED
    assert "on request" in answer.message
    assert gone(int(next(line for line in answer.lines if "pid" in line).split()[-1]))


# The pipe holds thousands of lines when the script has ended: whoever read it needs a while to tell of them.
CLEANING_UP = "trap 'seq 5000; echo cleaned up; exit' TERM\necho begun\nwhile :; do sleep 0.05; done\n"


def test_decision_2_a_script_may_clean_up_before_it_is_killed(make: Make, tmp_path: Path) -> None:
    script(tmp_path, CLEANING_UP)
    world = make("", node("vm", create="scripts/create.sh"))
    batch = world.batch(0)
    world.executor.submit(batch)
    begun = world.wait_for_line("begun")
    world.executor.cancel(batch.id, np.array([0], np.int32), kill=True)
    assert "<out> cleaned up" in world.wait(1, begun).lines


def test_decision_2_a_script_whose_time_is_over_may_clean_up_and_is_heard(make: Make, tmp_path: Path) -> None:
    script(tmp_path, CLEANING_UP)
    vm = node("vm", create="scripts/create.sh")
    _, answer = out_of_time(
        lambda timeout_ms: make("", vm, policy=replace(EACH, timeout_ms=timeout_ms)),
        lambda answer: "<out> begun" in answer.lines,
    )
    assert answer.kind is OutcomeKind.FAILED
    assert "<out> cleaned up" in answer.lines


ENGINE = """
import sys
from pathlib import Path
from dataclasses import replace
from phaseline.run.executors.local_executor import Slots
from phaseline.testing.builders import node
from tests.run.worlds import *
folder = Path(sys.argv[1])
policy = Policy(LaneSpec(CREATE, "each", "workers"))
nodes = node("vm", create="scripts/create.sh"), node("fn", create="cloud.create")
world = World(folder, make_blueprint(*nodes), policy=policy, identity=sys.argv[2])
world.executor.submit(world.batch(0))
world.executor.submit(world.batch(1))
world.wait(2)
"""


def test_the_death_of_the_engine_leaves_no_worker_and_recovery_ends_the_rest(tmp_path: Path, make: Make) -> None:
    survivor = make("")
    script(tmp_path, f"sleep 300 &\necho $! > {tmp_path}/child.tmp; mv {tmp_path}/child.tmp {tmp_path}/child; wait\n")
    plugin(
        tmp_path,
        "import os, time\ndef create(**_):\n"
        f"    open('{tmp_path}/worker.tmp', 'w').write(str(os.getpid()))\n"
        f"    os.rename('{tmp_path}/worker.tmp', '{tmp_path}/worker')\n    time.sleep(300)\n",
    )
    engine = subprocess.Popen([sys.executable, "-c", ENGINE, str(tmp_path), survivor.identity], cwd=Path.cwd())
    written = [tmp_path / "child", tmp_path / "worker"]
    came = await_end(lambda: {0 for file in written if not file.exists() and engine.poll() is None}, PATIENCE_S)
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    assert came
    child, worker = (int(file.read_text()) for file in written)
    assert gone(worker)
    assert is_alive(child)
    rows = [
        BatchRow(number, CREATE, MemberPositions.of([(1, np.array([0], np.int32))]), 0, 0, 0, None) for number in (1, 2)
    ]
    survivor.executor.recover(rows)
    assert gone(child)


def test_stop_ends_what_runs_and_lets_idle_workers_go(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "echo pid $$\nsleep 300\n")
    world = make("", node("vm", create="scripts/create.sh"))
    world.executor.submit(world.batch(0))
    begun = world.wait_for_line("pid")
    executor: LocalExecutor = world.executor
    executor.stop(0)
    assert gone(int(begun.lines[-1].split()[-1]))


def test_a_call_that_is_ended_because_its_engine_leaves_is_as_after_a_crash(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "ctx instance runtime-properties vm 7\necho begun\nsleep 300\n")
    world = make("", node("vm", create="scripts/create.sh", instances=2), slots=Slots(workers=1))
    world.executor.submit(world.batch(0, 1))
    world.wait_for_line("begun")
    world.executor.stop(0)
    reports = world.inbox.take_all()
    outcomes = {
        member: kind
        for report in reports
        if not report.is_noted
        for member, kind in zip(report.members.tolist(), report.kinds.tolist(), strict=True)
    }
    assert outcomes == {1: OutcomeKind.AGAIN}
