"""Beyond source document 1: second tries, halves, limits (phases.md section 15), with real plugins."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.run.plant import Plant

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import RequestKind


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Callable[..., Plant]]:
    made: list[Plant] = []

    def begin(**plugins: tuple[str, ...]) -> Plant:
        writer = Plant.__new__(Plant)
        writer.folder = tmp_path / "plugins"
        for name, (code, *lines) in plugins.items():
            writer.plugin(name, code.replace("{folder}", str(tmp_path)), *lines)
        made.append(Plant(tmp_path / "plugins"))
        return made[-1]

    yield begin
    for one in made:
        one.close()


FLAKY = """
def handle(handler):
    for node in handler.getResources():
        data = handler.getResourcePhaseData(node)
        tries = (data.getAsInteger("Tries") or 0) + 1
        data.setInteger("Tries", tries)
        if tries < 3:
            handler.setFailed(node, "try %d" % tries)
        else:
            handler.setCompleted(node)
"""


def test_p103_a_failure_is_tried_again_later_and_later_before_it_is_final(plant: Callable[..., Plant]) -> None:
    yard = plant(X=(FLAKY, "Phase.RetryLimit = 2", "Phase.BackoffBase = 10", "Phase.BackoffFactor = 3"))
    yard.start("a")
    for delay, tries in ((10, 1), (30, 2)):
        yard.until_is("a", "X", "sleeping")
        assert (yard.message("a", "X"), yard.data("a", "X")) == (f"try {tries}", {"Tries": tries})
        assert yard.engine.wakes_at == yard.clock.now() + delay * 1000
        yard.pass_time(delay)
    yard.until_in("Started", "a")


def test_p103_when_the_tries_are_over_it_has_failed(plant: Callable[..., Plant]) -> None:
    code = "def handle(handler):\n    raise ValueError('never')\n"
    yard = plant(X=(code, "Phase.RetryLimit = 1", "Phase.BackoffBase = 10"))
    row = yard.start("a")
    yard.until_is("a", "X", "sleeping")
    yard.pass_time(10)
    yard.until(lambda: yard.status(row) is ExecutionStatus.FAILED)
    assert yard.message("a", "X") == "ValueError: never"


def test_p103_what_is_kept_may_be_cleared_for_each_try(plant: Callable[..., Plant]) -> None:
    yard = plant(X=(FLAKY, "Phase.RetryLimit = 5", "Phase.BackoffBase = 10", "Phase.RetryClears = true"))
    yard.start("a")
    for _ in range(3):
        yard.until_is("a", "X", "sleeping")
        assert (yard.message("a", "X"), yard.data("a", "X")) == ("try 1", None)
        yard.pass_time(200)


def test_p102_a_permanent_error_is_not_tried_again(plant: Callable[..., Plant]) -> None:
    code = "from phaseline import PermanentError\n\ndef handle(handler):\n    raise PermanentError('no such region')\n"
    yard = plant(X=(code, "Phase.RetryLimit = 5"))
    row = yard.start("a")
    yard.until(lambda: yard.status(row) is ExecutionStatus.FAILED)
    assert yard.stay("a") == {"X": "failed"}


HALVES = """
def handle(handler):
    names = handler.getResources().names()
    with open("{folder}/calls", "a") as calls:
        calls.write(" ".join(names) + chr(10))
    bad = [name for name in names if name.startswith("bad")]
    if bad:
        raise ValueError("%d are bad" % len(bad))
    handler.setCompleted(handler.getResources())
"""


def test_p104_halves_of_a_run_that_raised_are_called_until_those_to_blame_are_alone(
    plant: Callable[..., Plant], tmp_path: Path
) -> None:
    yard = plant(X=(HALVES, "Phase.OnBatchFailure = bisect"))
    names = [f"bad{number}" if number in {5, 40} else f"n{number:02}" for number in range(64)]
    row = yard.start(*names)
    yard.until(lambda: yard.status(row) is ExecutionStatus.FAILED)
    assert {name for name in names if yard.state(name) != "Started"} == {"bad5", "bad40"}
    assert yard.message("bad5", "X") == "ValueError: 1 are bad"
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) <= 2 * 2 * 6 + 1
    assert len(calls[0].split()) == 64


def test_p104_without_that_wish_all_of_them_fail(plant: Callable[..., Plant], tmp_path: Path) -> None:
    yard = plant(X=(HALVES,))
    row = yard.start("bad1", "n1", "n2")
    yard.until(lambda: yard.status(row) is ExecutionStatus.FAILED)
    assert len((tmp_path / "calls").read_text().splitlines()) == 1
    assert {yard.message(name, "X") for name in ("bad1", "n1", "n2")} == {"ValueError: 1 are bad"}


SLOW = """
import pathlib, threading

def handle(handler):
    pathlib.Path("{folder}/begun").touch()
    while not pathlib.Path("{folder}/enough").exists():
        threading.Event().wait(0.01)
    handler.setCompleted(handler.getResources())
"""
"""Begins, and goes on until the test has had enough."""


def test_p98_a_run_that_takes_too_long_is_told_of_once_and_goes_on(plant: Callable[..., Plant], tmp_path: Path) -> None:
    yard = plant(slow=(SLOW, "PhaseName = X", "Phase.OverdueAfter = 0.1"))
    row = yard.start("a", "b")
    yard.until(lambda: bool(yard.store.logs(row.number)))
    assert yard.stay("a") == {"X": "running"}
    (tmp_path / "enough").touch()
    yard.until_in("Started", "a", "b")
    told = [line.text for line in yard.store.logs(row.number) if line.level == "warning"]
    assert told == ["the plugin 'slow' has been running for more than 0.1 s; a phase must not wait"]


def test_p95_a_plugin_that_is_read_anew_during_its_run_ends_on_the_old_code(
    plant: Callable[..., Plant], tmp_path: Path
) -> None:
    code = SLOW.replace("setCompleted(handler.getResources())", "setFailed(handler.getResources(), 'old')")
    yard = plant(X=(code,))
    row = yard.start("a")
    yard.until((tmp_path / "begun").exists)
    yard.plugin("X", code.replace("'old'", "'new'").replace("{folder}", str(tmp_path)))
    yard.renew()
    (tmp_path / "enough").touch()
    yard.until(lambda: yard.status(row).is_ended)
    assert yard.message("a", "X") == "old"
    yard.about(RequestKind.RETRY, "X", "a")
    yard.until(lambda: yard.status(row).is_ended)
    assert yard.message("a", "X") == "new"


def test_p44_two_phases_run_at_the_same_time_for_one_resource(plant: Callable[..., Plant]) -> None:
    """Each waits for the other to have begun."""
    code = """
import os, threading

def handle(handler):
    own, other = "{folder}/%s" % handler.getPhaseName(), "{folder}/OTHER"
    open(own, "w").close()
    for _ in range(3_000):
        if os.path.exists(other):
            handler.setCompleted(handler.getResources())
            return
        threading.Event().wait(0.02)
    raise ValueError("alone")
"""
    yard = plant(X=(code.replace("OTHER", "Y"),), Y=(code.replace("OTHER", "X"),))
    row = yard.start("a")
    yard.until(lambda: yard.status(row).is_ended)
    assert yard.state("a") == "Started"


def test_p112_a_coroutine_and_a_function_for_each_resource_are_called_too(plant: Callable[..., Plant]) -> None:
    together = """
import asyncio

async def handle(handler):
    await asyncio.sleep(0)
    for node in handler.getResources():
        node["Async"] = True
    handler.setCompleted(handler.getResources())
"""
    alone = """
def handle_one(resource, data):
    resource["Seen"] = resource["Name"]
    data["Count"] = 1
"""
    yard = plant(X=(together,), Y=(alone,))
    row = yard.start("a", "b")
    yard.until(lambda: yard.status(row).is_ended)
    assert yard.row(row).status is ExecutionStatus.COMPLETED
    found = {name: value for name, value in yard.document_of("b").items() if not name.startswith("\0")}
    assert found == {"Async": True, "Seen": "b"}
    assert yard.data("b", "Y") == {"Count": 1}


def test_p100_each_resource_finds_its_own_data_whoever_comes_and_goes(plant: Callable[..., Plant]) -> None:
    """a sleeps twice, b and c come with the second and third run and are done at once."""
    code = """
def handle(handler):
    for node in handler.getResources():
        data = handler.getResourcePhaseData(node)
        seen = (data.getAsString("Seen") or "") + node.getAsString("Name")
        data.setString("Seen", seen)
        if node.getAsString("Name") != "a" or len(seen) == 3:
            handler.setCompleted(node)
"""
    yard = plant(X=(code,))
    yard.start("a")
    for name in "bc":
        yard.until_is("a", "X", "sleeping")
        yard.start(name)
        yard.until_in("Started", name)
        yard.pass_time(15)
    yard.until_in("Started", "a")
    assert [yard.data(name, "X") for name in "abc"] == [{"Seen": "aaa"}, {"Seen": "b"}, {"Seen": "c"}]


def test_p30_a_plugin_that_ends_the_process_fails_and_the_engine_lives(plant: Callable[..., Plant]) -> None:
    yard = plant(X=("import sys\n\ndef handle(handler):\n    sys.exit(1)\n",))
    yard.start("a")
    yard.until_is("a", "X", "failed")
    assert yard.message("a", "X") == "SystemExit: 1"


def test_p108_a_plugin_says_that_it_is_throttled(plant: Callable[..., Plant]) -> None:
    code = """
from phaseline import TemporaryError

def handle(handler):
    data = handler.getResourcePhaseData(handler.getResources()[0])
    if not data.isDefined("Asked"):
        data["Asked"] = True
        raise TemporaryError("slow down", delay=1, throttled=True)
    handler.setCompleted(handler.getResources())
"""
    yard = plant(X=(code, "Phase.RateLimit = 0.5"))
    yard.start("a")
    yard.until_is("a", "X", "sleeping")
    yard.pass_time(1)
    assert yard.stay("a") == {"X": "waiting"}
    assert yard.engine.wakes_at == yard.clock.now() + 3_000
    yard.pass_time(3)
    yard.until_in("Started", "a")
