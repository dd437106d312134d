"""Async functions: together on one loop, ended in time and on request, dropped by an engine that leaves."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.worlds import CREATE, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.model.graph.status import OutcomeKind
from phaseline.testing.builders import node

BULK = Policy(LaneSpec(CREATE, "bulk"))
Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, **fields: Any) -> World:
        plugin(tmp_path, "from phaseline import operation\n" + text)
        made.append(World(tmp_path, make_blueprint(node("vm", create="cloud.create", instances=4)), **fields))
        return made[-1]

    yield build
    for world in made:
        world.close()


def test_async_functions_wait_together(make: Make) -> None:
    world = make(
        "import asyncio\narrived = []\nall_there = asyncio.Event()\n"
        "@operation\nasync def create(item):\n"
        "    arrived.append(item.instance_id)\n"
        "    if len(arrived) == 4: all_there.set()\n"
        "    await all_there.wait()\n"
        "    item.runtime_properties['n'] = len(arrived)\n"
    )
    answer = world.run(0, 1, 2, 3)
    assert set(answer.kinds.values()) == {OutcomeKind.COMPLETED}
    assert [change.written for change in answer.documents] == [{("n",): 4}] * 4


def test_an_async_bulk_function_is_awaited(make: Make) -> None:
    text = "import asyncio\n@operation(bulk=True)\nasync def create(batch):\n    await asyncio.sleep(0)\n    batch[0].fail('x')\n"
    assert make(text, policy=BULK).run(0, 1).kinds == {0: OutcomeKind.FAILED, 1: OutcomeKind.COMPLETED}


def test_an_async_call_past_its_time_is_canceled(make: Make) -> None:
    text = "import asyncio\n@operation\nasync def create(item): await asyncio.Event().wait()\n"
    answer = make(text, policy=Policy(LaneSpec(CREATE, "each"), timeout_ms=30)).run(0)
    assert answer.kind is OutcomeKind.FAILED
    assert "timed out after 0.03 s" in answer.message


def test_an_async_function_that_raises_is_tried_again(make: Make) -> None:
    answer = make("@operation\nasync def create(item): raise ValueError('x')\n").run(0)
    assert (answer.kind, answer.message) == (OutcomeKind.RETRY, "x")


ASYNC_WAIT = """import asyncio
@operation
async def create(item):
    item.log.info('begun')
    try:
        await asyncio.Event().wait()
    finally:
        item.log.info('put away')
"""


def test_d2_a_kill_reaches_an_async_function_which_may_put_away_what_it_holds(make: Make) -> None:
    world = make(ASYNC_WAIT)
    batch = world.batch(0, 1)
    world.executor.submit(batch)
    answer = world.wait_for_line("begun", 2)
    world.executor.cancel(batch.id, np.array([0]), kill=True)
    world.wait(1, answer)
    assert answer.kinds == {0: OutcomeKind.FAILED}, "the other one goes on"
    assert answer.message == "its processes were ended on request"
    assert "put away" in answer.lines


ASYNC_BLOCK = """from pathlib import Path
from threading import Event
@operation
async def create(item):
    if item.instance_id == 'vm_1':
        item.log.info('begun')
        while not Path(__file__).with_name('go').exists(): Event().wait(0.002)
"""


def test_d2_a_kill_reaches_an_async_function_that_has_not_begun_and_it_is_answered(make: Make, tmp_path: Path) -> None:
    world = make(ASYNC_BLOCK)
    world.executor.submit(world.batch(0))
    answer = world.wait_for_line("begun")
    batch = world.batch(1)
    world.executor.submit(batch)
    while world.executor._threads._loop._begun < 2:
        world.inbox.wait(5)
    world.executor.cancel(batch.id, np.array([0]), kill=True)
    (tmp_path / "plugins" / "go").touch()
    world.wait(2, answer)
    assert {report.batch: report.kinds.tolist() for report in answer.reports if len(report.members)} == {
        1: [OutcomeKind.COMPLETED],
        2: [OutcomeKind.FAILED],
    }


def test_an_engine_that_leaves_drops_an_async_function_that_has_not_begun(make: Make, tmp_path: Path) -> None:
    """A coroutine that nobody awaits would be complained of."""
    world = make(ASYNC_BLOCK)
    world.executor.submit(world.batch(0))
    world.wait_for_line("begun")
    world.executor.submit(world.batch(1))
    while world.executor._threads._loop._begun < 2:
        world.inbox.wait(5)
    stopping = threading.Thread(target=world.executor.stop, args=(0,))
    stopping.start()
    while not world.executor._threads._loop._is_stopped:
        world.inbox.wait(5)
    (tmp_path / "plugins" / "go").touch()
    stopping.join()
    kinds = [kind for report in world.inbox.take_all() if len(report.members) for kind in report.kinds.tolist()]
    assert kinds in ([], [OutcomeKind.COMPLETED]), "of the second one nothing is said: it counts as begun"


def test_an_async_function_that_an_engine_leaves_behind_is_not_failed(make: Make) -> None:
    world = make(ASYNC_WAIT)
    world.executor.submit(world.batch(0))
    answer = world.wait_for_line("begun")
    world.executor.stop(0)
    for report in world.inbox.take_all():
        answer.take(report)
    assert not answer.kinds, "whoever goes on finds the call as after a crash"
