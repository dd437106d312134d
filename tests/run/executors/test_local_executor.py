"""How an executor leaves: what it began is awaited, what it did not begin comes back uncalled."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.run.worlds import CREATE, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.incarnations import Incarnation, Names
from phaseline.model.rows.rows import BatchRow
from phaseline.run.executors.local_executor import SWITCH_S, Slots, unanswered
from phaseline.testing.builders import node

Make = Callable[..., World]
BLOCKING = """
import sys
import threading
from pathlib import Path
from phaseline import operation
HERE, NEVER = Path(__file__).parent, threading.Event()
@operation
def create(item):
    (HERE / item.instance_id).touch()
    while not (HERE / "go").exists():
        NEVER.wait(0.002)
@operation(bulk=True)
def together(batch):
    create(batch[0])
"""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(name: str, form: str, slots: Slots) -> World:
        plugin(tmp_path, BLOCKING)
        policy = Policy(LaneSpec(CREATE, form))
        made.append(World(tmp_path, make_blueprint(node("vm", create=name, instances=5)), policy=policy, slots=slots))
        return made[-1]

    yield build
    for world in made:
        world.close()


def begun(folder: Path) -> set[str]:
    return {file.name for file in (folder / "plugins").glob("vm_*")}


def leave(world: World, folder: Path, count: int) -> dict[int, OutcomeKind]:
    """The executor stops while ``count`` calls are running, and these then end; {member: outcome}."""
    while len(begun(folder)) < count:
        world.inbox.wait(5)
    stopping = threading.Thread(target=world.executor.stop, args=(30.0,))
    world.executor.hold()
    stopping.start()
    (folder / "plugins" / "go").touch()
    stopping.join()
    found = {}
    for report in world.inbox.take_all():
        found.update(zip(report.members.tolist(), map(OutcomeKind, report.kinds.tolist()), strict=True))
    return found


def test_what_runs_is_awaited_and_what_has_not_begun_comes_back_uncalled(make: Make, tmp_path: Path) -> None:
    world = make("cloud.create", "each", Slots(threads=2))
    world.executor.submit(world.batch(0, 1, 2, 3, 4))
    kinds = leave(world, tmp_path, 2)
    assert begun(tmp_path) == {"vm_1", "vm_2"}
    assert sorted(kinds) == [0, 1, 2, 3, 4]
    assert {member for member, kind in kinds.items() if kind is OutcomeKind.COMPLETED} == {0, 1}
    assert {kinds[member] for member in (2, 3, 4)} == {OutcomeKind.AGAIN}


def test_a_bulk_call_that_waits_for_a_thread_comes_back_uncalled(make: Make, tmp_path: Path) -> None:
    world = make("cloud.together", "bulk", Slots(bulk=1))
    first, second = world.batch(0), world.batch(1, 2)
    world.executor.submit(first)
    world.executor.submit(second)
    while not begun(tmp_path):
        world.inbox.wait(5)
    world.executor.hold()
    (tmp_path / "plugins" / "go").touch()
    world.executor.stop(30)
    told = {}
    for report in world.inbox.take_all():
        told.setdefault(report.batch, []).extend(map(OutcomeKind, report.kinds.tolist()))
    assert told == {first.id: [OutcomeKind.COMPLETED], second.id: [OutcomeKind.AGAIN] * 2}
    assert begun(tmp_path) == {"vm_1"}


@pytest.mark.parametrize(("name", "form", "slots"), [
    ("cloud.together", "bulk", Slots(bulk=1)), ("cloud.create", "each", Slots(threads=1)),
])  # fmt: skip
def test_what_was_held_back_begins_when_it_is_released(
    make: Make, tmp_path: Path, name: str, form: str, slots: Slots
) -> None:
    world = make(name, form, slots)
    world.executor.submit(world.batch(0))
    world.executor.submit(world.batch(1, 2))
    while not begun(tmp_path):
        world.inbox.wait(5)
    world.executor.hold()
    (tmp_path / "plugins" / "go").touch()
    while world.executor.is_busy():
        world.inbox.wait(0.01)
    assert begun(tmp_path) == {"vm_1"}
    world.executor.release()
    told: list[OutcomeKind] = []
    while len(told) < 3:
        world.inbox.wait(5)
        for report in world.inbox.take_all():
            told.extend(map(OutcomeKind, report.kinds.tolist()))
    assert told == [OutcomeKind.COMPLETED] * 3
    assert begun(tmp_path) >= {"vm_1", "vm_2"}


def test_a_call_that_outlives_the_drain_time_has_no_outcome(make: Make, tmp_path: Path) -> None:
    world = make("cloud.create", "each", Slots(threads=1))
    world.executor.submit(world.batch(0, 1))
    while not begun(tmp_path):
        world.inbox.wait(5)
    world.executor.stop(0)
    members = [member for report in world.inbox.take_all() for member in report.members.tolist()]
    (tmp_path / "plugins" / "go").touch()
    assert members == [1]


def test_a_process_is_left_over_if_its_mark_names_a_member_of_an_open_batch_without_an_outcome() -> None:
    places = MemberPositions.of([(1, np.arange(2)), (2, np.arange(1))])
    kinds = np.array([OutcomeKind.COMPLETED, OutcomeKind.PENDING, OutcomeKind.AGAIN], np.uint8)
    rows = [BatchRow(7, "create", places, 0, 0, 0, None), BatchRow(8, "create", places, 0, 0, 0, kinds)]
    is_left = unanswered(Names("a:store"), rows)
    assert [mark for mark in ("7:0", "7:2", "7:3", "8:0", "8:1", "8:2", "8:3", "9:0", "7:x", "7") if is_left(f"a:store:{mark}")] == [
        "7:0", "7:2", "8:1",
    ]  # fmt: skip
    assert not is_left("another:7:0")
    assert not is_left("")


def test_bk4_processes_of_calls_from_before_a_restore_are_left_alone() -> None:
    places = MemberPositions.of([(1, np.arange(2))])
    rows = [BatchRow(number, "create", places, 0, 0, 0, None) for number in (7, 8)]
    is_left = unanswered(Names("a", [Incarnation(1, "b", 0, "restored", 5, 8)]), rows)
    assert [mark for mark in ("a:7:0", "a:8:0", "a.b:7:0", "a.b:8:0") if is_left(mark)] == ["a.b:8:0"]


MIXED = """
import asyncio
import sys
import threading
from pathlib import Path
from phaseline import operation
HERE, NEVER = Path(__file__).parent, threading.Event()
def is_held(item):
    return item.instance_id != "vm_1" and not (HERE / "go").exists()
@operation
def create(item):
    while is_held(item):
        NEVER.wait(0.002)
@operation
async def asked(item):
    while is_held(item):
        await asyncio.to_thread(NEVER.wait, 0.002)
@operation
def computed(item):
    while is_held(item):
        pass
"""


@pytest.mark.parametrize(
    ("function", "pool"),
    [("create", "threads"), ("asked", "threads"), ("computed", "threads"), ("create", "workers")],
)
def test_a_call_that_has_returned_is_reported_while_others_of_its_batch_run(
    tmp_path: Path, function: str, pool: str
) -> None:
    plugin(tmp_path, MIXED)
    policy = Policy(LaneSpec(CREATE, "each", pool=pool))
    instances = make_blueprint(node("vm", create=f"cloud.{function}", instances=4))
    world = World(tmp_path, instances, policy=policy, slots=Slots(threads=4, workers=4))
    world.executor.submit(world.batch(0, 1, 2, 3))
    found: list[int] = []
    while not found:
        world.inbox.wait(1_000)
        found = [member for report in world.inbox.take_all() for member in report.members.tolist()]
    assert found == [0]
    (tmp_path / "plugins" / "go").touch()
    world.close()


def test_threads_change_often_while_an_engine_lives_so_that_no_outcome_waits_for_calls_that_compute(
    make: Make,
) -> None:
    before, pythons_own = sys.getswitchinterval(), 0.005
    sys.setswitchinterval(pythons_own)  # an engine of another test may live yet
    world = make("cloud.create", "each", Slots(threads=2))
    assert sys.getswitchinterval() == pytest.approx(SWITCH_S)
    world.executor.stop(0)
    assert sys.getswitchinterval() == pytest.approx(pythons_own)
    sys.setswitchinterval(before)
