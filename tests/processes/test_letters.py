"""Calls that share a letter to a worker: each has its own end, time and output; those that have not begun are called by others."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.worlds import CREATE, PATIENCE_S, Answer, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.calls.batches.batch_handover import BatchHandover
from phaseline.calls.batches.local_channel import LocalChannel
from phaseline.calls.threads.process_groups import await_end, is_alive
from phaseline.model.graph.status import OutcomeKind
from phaseline.run.executors.assignments import Assignment
from phaseline.run.executors.call_chunks import Chunk
from phaseline.run.executors.framing import Message
from phaseline.run.executors.local_executor import Slots
from phaseline.run.executors.process_executor import WorkerExecutor
from phaseline.run.executors.thread_executor import CallGate
from phaseline.testing.builders import node

EACH = Policy(LaneSpec(CREATE, "each", "workers"))
COUNT, ODD = 300, 200
"""How many calls a batch has, and which of them is not short: the letters are long by then."""
Make = Callable[..., World]

BEGIN = f"""
import os, sys, time
from pathlib import Path
from phaseline import operation
here = Path(__file__).parent

def called(item):
    with open(here / "called", "a") as file:
        file.write(f"{{item.instance_id}} {{item.attempt}}\\n")
    return item.instance_id == "vm_{ODD + 1}"

def stay():
    (here / "staying").touch()
    while not (here / "free").exists():
        time.sleep(0.005)

"""
STAY = BEGIN + "@operation\ndef create(item):\n    if called(item): stay()\n"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, **fields: Any) -> World:
        plugin(tmp_path, text)
        blueprint = make_blueprint(node("vm", create="cloud.create", instances=COUNT))
        made.append(World(tmp_path, blueprint, **{"policy": EACH, "slots": Slots(workers=2), **fields}))
        return made[-1]

    yield build
    for world in made:
        world.close()


def called(folder: Path) -> Counter[str]:
    return Counter((folder / "plugins" / "called").read_text().splitlines())


def once() -> Counter[str]:
    return Counter(f"vm_{number + 1} 0" for number in range(COUNT))


def until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while not is_so():
        assert time.monotonic() < ends, "it does not come"
        pause.wait(0.005)


def kinds(answer: Answer) -> Counter[OutcomeKind]:
    return Counter(answer.kinds.values())


def test_short_calls_share_letters_so_that_there_are_far_fewer_letters_than_calls(make: Make) -> None:
    """A letter for each call before: the bound holds, too, if each tenth of a millisecond another process comes first."""
    world = make("from phaseline import operation\n@operation\ndef create(item): pass\n", slots=Slots(workers=1))
    for _ in range(8):
        assert kinds(world.run(*range(COUNT))) == {OutcomeKind.COMPLETED: COUNT}
    (worker,) = world.executor._workers._workers
    assert worker.wire.sent < 8 * COUNT / 2


def test_others_of_a_letter_are_answered_and_called_while_one_of_them_is_slow(make: Make, tmp_path: Path) -> None:
    world = make(STAY)
    world.executor.submit(world.batch(*range(COUNT)))
    answer = world.wait(COUNT - 1)
    assert set(range(COUNT)) - set(answer.kinds) == {ODD}
    (tmp_path / "plugins" / "free").touch()
    assert kinds(world.wait(COUNT, answer)) == {OutcomeKind.COMPLETED: COUNT}
    assert called(tmp_path) == once()


@pytest.mark.parametrize(
    ("odd", "limit_ms", "text"),
    [
        ("os.kill(os.getpid(), 9)", 0, "ended by signal SIGKILL"),
        ("os._exit(3)", 0, "ended with exit code 3"),
        ("time.sleep(300)", 2_000, "timed out after 2 s"),
    ],
)
def test_the_death_of_a_worker_ends_what_runs_and_another_one_calls_what_has_not_begun(
    make: Make, tmp_path: Path, odd: str, limit_ms: int, text: str
) -> None:
    world = make(
        f"{BEGIN}@operation\ndef create(item):\n    if called(item): {odd}\n",
        policy=replace(EACH, timeout_ms=limit_ms),
        slots=Slots(workers=1),
    )
    answer = world.run(*range(COUNT))
    assert answer.kinds[ODD] is OutcomeKind.FAILED
    assert text in answer.remarks[ODD].message
    assert kinds(answer) == {OutcomeKind.COMPLETED: COUNT - 1, OutcomeKind.FAILED: 1}
    assert called(tmp_path) == once(), "nothing is called twice, and no call counts as an attempt that was none"


def test_a_worker_that_dies_while_it_has_nothing_to_do_costs_no_call(make: Make, tmp_path: Path) -> None:
    world = make(f"{BEGIN}@operation\ndef create(item): called(item)\n", slots=Slots(workers=1))
    world.run(0)
    (worker,) = world.executor._workers._workers
    heard = Heard(world, BatchHandover(world.batch(1, 2), world.deployments))
    os.kill(worker.pid, 9)
    assert await_end(lambda: {worker.pid} if is_alive(worker.pid) else set(), PATIENCE_S)
    worker.call_all(heard.made([0, 1]), heard)
    assert (heard.messages, heard.errors, heard.back) == ([], [], [0, 1])
    assert called(tmp_path) == {"vm_1 0": 1}


def test_what_calls_of_a_letter_print_and_log_is_theirs_and_in_order(make: Make) -> None:
    world = make(
        "import os, subprocess, sys\nfrom phaseline import operation\n@operation\n"
        "def create(item):\n"
        "    name = item.instance_id\n"
        "    number = int(name.partition('_')[2])\n"
        "    item.log.info('begins %s', name)\n"
        "    if number % 3 == 0: print('prints', name); item.log.info('goes on %s', name)\n"
        "    if number % 5 == 0: os.write(2, f'half a line of {name}'.encode())\n"
        "    if number % 100 == 0: subprocess.run(['echo', 'child of', name])\n"
        "    item.log.info('ends %s', name)\n",
    )
    answer = world.run(*range(COUNT))
    assert kinds(answer) == {OutcomeKind.COMPLETED: COUNT}
    for instance in range(COUNT):
        name, number = world.topology.ids[instance], int(world.topology.ids[instance].partition("_")[2])
        logged = [f"begins {name}", *[f"goes on {name}"] * (number % 3 == 0), f"ends {name}"]
        printed = {
            *[f"<out> prints {name}"] * (number % 3 == 0),
            *[f"<err> half a line of {name}"] * (number % 5 == 0),
            *[f"<out> child of {name}"] * (number % 100 == 0),
        }
        lines = [line.text for line in answer.logs if line.instance == instance]
        assert [line for line in lines if line[0] != "<"] == logged
        assert {line for line in lines if line[0] == "<"} == printed
        assert len(lines) == len(logged) + len(printed)


@pytest.mark.parametrize("kill", [True, False])
def test_a_cancel_of_calls_of_a_letter_meets_them_alone(make: Make, tmp_path: Path, kill: bool) -> None:
    """The one that runs is told, or killed; one that has not begun is not called; all the others are."""
    world = make(STAY, slots=Slots(workers=1))
    batch = world.batch(*range(COUNT))
    world.executor.submit(batch)
    until((tmp_path / "plugins" / "staying").exists)
    world.executor.cancel(batch.id, np.array([ODD, COUNT - 1], np.int32), kill=kill)
    if not kill:
        (tmp_path / "plugins" / "free").touch()
    answer = world.wait(COUNT)
    assert answer.kinds[ODD] is (OutcomeKind.FAILED if kill else OutcomeKind.COMPLETED)
    assert answer.kinds[COUNT - 1] is OutcomeKind.AGAIN
    assert kinds(answer)[OutcomeKind.COMPLETED] == COUNT - (2 if kill else 1)
    assert called(tmp_path) == once() - Counter([f"vm_{COUNT} 0"])


def test_calls_of_a_letter_that_have_not_begun_are_held_and_released(make: Make, tmp_path: Path) -> None:
    world = make(STAY, slots=Slots(workers=1))
    world.executor.submit(world.batch(*range(COUNT)))
    until((tmp_path / "plugins" / "staying").exists)
    world.executor.hold()
    (tmp_path / "plugins" / "free").touch()
    until(lambda: not world.executor.is_busy())
    assert sum(called(tmp_path).values()) == ODD + 1
    world.executor.release()
    assert kinds(world.wait(COUNT)) == {OutcomeKind.COMPLETED: COUNT}
    assert called(tmp_path) == once()


def test_calls_of_a_letter_that_have_not_begun_when_the_engine_leaves_are_not_in_doubt(
    make: Make, tmp_path: Path
) -> None:
    world = make(STAY, slots=Slots(workers=1))
    world.executor.submit(world.batch(*range(COUNT)))
    until((tmp_path / "plugins" / "staying").exists)
    world.executor.stop(0)
    answer = Answer()
    for report in world.inbox.take_all():
        answer.take(report)
    assert kinds(answer) == {OutcomeKind.COMPLETED: ODD, OutcomeKind.AGAIN: COUNT - ODD - 1}
    assert ODD not in answer.kinds, "it had begun: whoever goes on finds it as after a crash"


class Heard(Chunk):
    """Keeps what it learns of calls, and posts nothing."""

    def __init__(self, world: World, handover: BatchHandover) -> None:
        executor = world.executor
        channel = LocalChannel(handover, executor._poster, executor._catalog, executor._clock)
        self.back: list[int] = []
        super().__init__(handover, channel, executor._poster, executor._workers._running, self.back.extend)
        self.worker = executor._workers._workers[0]
        self.messages: list[Message] = []
        self.errors: list[Exception] = []
        self.deadlines: list[float] = []

    def ended(self, one: Assignment, message: Message, took_s: float) -> None:
        self.messages.append(message)
        self.deadlines.append(self.worker._attending._deadline)
        self._calls.close(one.mark)

    def failed(self, one: Assignment, error: Exception) -> None:
        self.errors.append(error)


def test_the_time_of_each_call_of_a_letter_begins_when_the_one_before_has_ended(make: Make) -> None:
    text = "import time\nfrom phaseline import operation\n@operation\ndef create(item): time.sleep(0.002)\n"
    world = make(text, policy=replace(EACH, timeout_ms=3_600_000), slots=Slots(workers=1))
    world.run(0)
    for _ in range(100):
        heard = Heard(world, BatchHandover(world.batch(1, 2, 3), world.deployments))
        heard.worker.call_all(heard.made([0, 1, 2]), heard)
        if not heard.back:  # it was so slow that the others were not left to wait
            break
    assert len(heard.messages) == 3
    first, second, _ = heard.deadlines
    assert second > first, "by less than the call took where the end of the one before was heard late"


def test_workers_that_have_nothing_to_do_end_and_the_next_call_has_a_new_one(make: Make) -> None:
    text = "import os\nfrom phaseline import operation\n@operation\ndef create(item): item.complete(os.getpid())\n"
    world = make(text)
    executor = world.executor
    executor._workers = WorkerExecutor(
        executor._poster, executor._catalog, executor._clock, slots=2, gate=CallGate(), idle_s=0.1
    )
    before = world.run(0).remarks[0].result
    assert isinstance(before, int)
    assert await_end(lambda: {before} if is_alive(before) else set(), PATIENCE_S)
    until(lambda: not executor._workers._workers)
    assert executor._workers._staff.wanted == 1
    assert world.run(0).remarks[0].result != before


def test_a_worker_that_was_killed_is_noticed_though_its_children_live(make: Make, tmp_path: Path) -> None:
    """They have not inherited its socket."""
    world = make(
        "import os\nfrom phaseline import operation\n@operation\ndef create(item):\n"
        f"    os.system('sleep 300 >/dev/null 2>&1 & echo $! >{tmp_path}/child')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    answer = world.run(0)
    assert "ended by signal SIGKILL" in answer.message
    child = int((tmp_path / "child").read_text())
    assert await_end(lambda: {child} if is_alive(child) else set(), PATIENCE_S)


def test_a_worker_of_functions_loads_no_numpy(make: Make) -> None:
    text = "import sys\nfrom phaseline import operation\n@operation\ndef create(item): item.complete('numpy' in sys.modules)\n"
    assert make(text).run(0).remarks[0].result is False
