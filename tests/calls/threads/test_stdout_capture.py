"""Plugin code that prints in the engine's own process."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.run.worlds import CREATE, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.calls.threads.stdout_capture import Dispatching
from phaseline.testing.builders import node

EACH = Policy(LaneSpec(CREATE, "each", "threads"))
BULK = Policy(LaneSpec(CREATE, "bulk"))
Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, **fields: Any) -> World:
        plugin(tmp_path, "import sys\nfrom phaseline import operation\n" + text)
        made.append(World(tmp_path, make_blueprint(node("vm", create="cloud.create", instances=2)), **fields))
        return made[-1]

    yield build
    for world in made:
        world.close()


def lines(answer: Any) -> list[tuple[str, str, int]]:
    return sorted((line.level, line.text, line.instance) for report in answer.reports for line in report.logs)


def test_what_a_function_prints_becomes_lines_of_its_instance(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    world = make(
        "@operation\ndef create(item):\n"
        "    print('one', flush=True)\n    print('two', end='')\n    print('bad', file=sys.stderr)\n",
        policy=EACH,
    )
    assert lines(world.run(1)) == [
        ("error", "<err> bad", 1),
        ("info", "<out> one", 1),
        ("info", "<out> two", 1),
    ]
    assert capsys.readouterr() == ("", "")


def test_what_a_bulk_function_prints_belongs_to_no_instance(make: Make) -> None:
    world = make("@operation(bulk=True)\ndef create(batch):\n    print('all', len(batch))\n", policy=BULK)
    assert lines(world.run(0, 1)) == [("info", "<out> all 2", -1)]


def test_what_a_coroutine_prints_is_its_own(make: Make) -> None:
    world = make(
        "import asyncio\n@operation\nasync def create(item):\n    await asyncio.sleep(0)\n    print(item.node_id, end='')\n",
        policy=EACH,
    )
    assert lines(world.run(0, 1)) == [("info", "<out> vm", 0), ("info", "<out> vm", 1)]


def test_others_write_through_and_the_streams_are_put_back(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    world = make("@operation\ndef create(item): pass\n", policy=EACH)
    assert isinstance(sys.stdout, Dispatching)
    print("mine")
    stray = threading.Thread(target=print, args=("stray",))
    stray.start()
    stray.join()
    world.close()
    assert sys.stdout is before
    assert capsys.readouterr() == ("mine\n", "stray\n")


@pytest.mark.parametrize("policy", [EACH, BULK])
def test_sys_exit_in_a_function_is_a_failure_and_nothing_more(make: Make, policy: Policy) -> None:
    world = make(f"@operation(bulk={policy is BULK})\ndef create(item):\n    sys.exit(3)\n", policy=policy)
    answer = world.run(0)
    assert answer.kinds[0].name == "FAILED"
    assert answer.remarks[0].message == "the operation called sys.exit(3)"
