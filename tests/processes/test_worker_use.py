"""How workers are used: as many as calls need, told of an operation once, their output handed on in bulk."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.worlds import CREATE, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.calls.batches.batch_handover import BatchHandover
from phaseline.calls.batches.local_channel import LocalChannel
from phaseline.calls.protocol.call import MAX_LINES
from phaseline.model.blueprint.blueprint import Node
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.problems.problem import ProblemsError
from phaseline.run.executors.assignments import Assignment
from phaseline.run.executors.call_chunks import Chunk
from phaseline.run.executors.framing import Message
from phaseline.run.executors.local_executor import Slots
from phaseline.run.executors.process_executor import CORES, LOOK_S, Staff
from phaseline.run.executors.worker_process import MAX_SITES
from phaseline.testing.builders import node, operation

EACH = Policy(LaneSpec(CREATE, "each", "workers"))
Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, *nodes: Node, instances: int = 4, **fields: Any) -> World:
        plugin(tmp_path, "import os, sys, time\nfrom phaseline import operation\n" + text)
        nodes = nodes or (node("vm", create="cloud.create", instances=instances),)
        fields = {"policy": EACH, "slots": Slots(workers=2), **fields}
        made.append(World(tmp_path, make_blueprint(*nodes), **fields))
        return made[-1]

    yield build
    for world in made:
        world.close()


def script(folder: Path, text: str) -> None:
    file = folder / "scripts" / "create.sh"
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n" + text)


def test_a_long_line_of_a_script_is_one_line_that_is_cut(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "head -c 1000000 /dev/zero | tr '\\0' x\necho\necho end\n")
    answer = make("", node("vm", create="scripts/create.sh")).run(0)
    first, last = [line for line in answer.lines if line.startswith("<out> ")]
    assert (len(first), last) == (len("<out> ") + 9_900 + len(" ... 990,100 characters left out"), "<out> end")
    assert first.endswith("x ... 990,100 characters left out")


@pytest.mark.parametrize("pool", ["threads", "workers"])
def test_a_long_line_that_a_function_prints_is_one_line_that_is_cut(make: Make, pool: str) -> None:
    policy = Policy(LaneSpec(CREATE, "each", pool))
    answer = make("@operation\ndef create(item): print('x' * 50_000, flush=True); print('end')\n", policy=policy).run(0)
    assert [line[-32:] for line in answer.lines] == ["x ... 40,100 characters left out", "<out> end"]


def test_of_very_many_lines_of_a_script_the_first_are_kept_and_the_last_are_in_its_failure(
    make: Make, tmp_path: Path
) -> None:
    script(tmp_path, "seq 300000\necho nearly >&2\nexit 3\n")
    answer = make("", node("vm", create="scripts/create.sh")).run(0)
    assert len(answer.lines) == MAX_LINES + 1
    assert answer.lines[-1].startswith("more than 20000 lines")
    assert (answer.kind, answer.message.split(": ")[-1]) == (OutcomeKind.RETRY, "nearly")


def test_a_worker_is_told_of_a_site_once_and_of_another_one_when_it_comes(make: Make) -> None:
    world = make(
        "@operation\ndef create(item): item.complete(f\"zone {item.inputs['zone']}\")\n",
        *(node(f"vm{n}", create=operation(CREATE, "cloud.create", inputs={"zone": n}), instances=2) for n in range(3)),
        slots=Slots(workers=1),
    )
    for _ in range(2):  # another batch has sites of its own
        answer = world.run(0, 1, 2, 3, 4, 5)
        zones = sorted(str(remark.result) for remark in answer.remarks.values())
        assert zones == [f"zone {number}" for number in (0, 0, 1, 1, 2, 2)]
    worker = world.executor._workers._workers[0]
    assert len(worker._sites) == 6
    worker._sites.update({number: (number, None) for number in range(MAX_SITES)})
    assert {int(kind) for kind in world.run(0, 2, 4).kinds.values()} == {OutcomeKind.COMPLETED}
    assert len(worker._sites) == 3, "too many: it is told of all anew"


def test_a_site_whose_first_call_cannot_be_sent_is_told_with_the_next(make: Make) -> None:
    world = make("@operation\ndef create(item): pass\n", slots=Slots(workers=1))
    assert world.run(0).kind is OutcomeKind.COMPLETED
    (worker,) = world.executor._workers._workers
    handover = BatchHandover(world.batch(0, 1), world.deployments)
    heard = Heard(handover, world)
    first, second = heard.made([0, 1])
    worker.call_all([replaced(first, inputs={"a": object()})], heard)
    assert [type(error) for error in heard.errors] == [ProblemsError]
    worker.call_all([second], heard)
    assert heard.messages == [{"done": "native"}]


class Heard(Chunk):
    """Keeps what it learns, and posts nothing."""

    def __init__(self, handover: BatchHandover, world: World) -> None:
        executor = world.executor
        channel = LocalChannel(handover, executor._poster, executor._catalog, executor._clock)
        super().__init__(handover, channel, executor._poster, executor._workers._running, lambda _: None)
        self.messages: list[Message] = []
        self.errors: list[Exception] = []

    def ended(self, one: Assignment, message: Message, took_s: float) -> None:
        self.messages.append(message)

    def failed(self, one: Assignment, error: Exception) -> None:
        self.errors.append(error)


def replaced(one: Assignment, **fields: object) -> Assignment:
    return Assignment(one.call, {**one.letter, **fields}, one.answers, one.log)


def test_workers_are_started_as_calls_wait_and_not_before(make: Make) -> None:
    """Ten short calls are done by one; calls that stay bring as many as there may be."""
    short = make(
        "@operation\ndef create(item): item.runtime_properties['pid'] = os.getpid()\n",
        instances=10,
        slots=Slots(workers=8),
    )
    assert len({change.written["pid",] for change in short.run(*range(10)).documents}) <= 2
    long = make(
        "@operation\ndef create(item):\n    item.log.info('begun')\n    while not item.is_canceled: time.sleep(0.01)\n",
        instances=4,
        slots=Slots(workers=4),
    )
    batch = long.batch(0, 1, 2, 3)
    long.executor.submit(batch)
    begun = long.wait_for_line("begun", 4)
    assert len(long.executor._workers._running) == 4
    long.executor.cancel(batch.id, np.arange(4, dtype=np.int32), kill=False)
    assert set(long.wait(4, begun).kinds.values()) == {OutcomeKind.COMPLETED}


def test_staff_grows_when_calls_have_waited_for_workers_that_are_ready() -> None:
    starting = [True]
    staff = Staff(4, lambda: starting[0])
    staff.waiting = 9
    wanted = []
    for look in range(40):
        starting[0] = look < 10
        staff.judge(1 + look * LOOK_S, late_s=0, share=0, begun=0)
        wanted.append(staff.wanted)
    assert wanted[:14] == [1] * 14, "it is no time of waiting while a worker is being started"
    assert (wanted[16], wanted[30], wanted[39]) == (2, 4, 4)
    staff = Staff(4, lambda: False)
    for look in range(40):
        staff.judge(1 + look * LOOK_S, late_s=0, share=0, begun=0)
    assert staff.wanted == 1, "nobody waits"


def test_staff_of_short_calls_grows_to_the_cores_alone() -> None:
    for each_look, most in ((100, CORES), (0, 64)):
        staff = Staff(64, lambda: False)
        staff.waiting = 10_000
        for look in range(200):
            staff.judge(1 + look * LOOK_S, late_s=0, share=0, begun=look * each_look)
        assert staff.wanted == most if most == 64 else most <= staff.wanted < 2 * most
