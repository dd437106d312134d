"""Beyond source document 1: second tries, halves, limits (phases.md section 15), with real plugins."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.run.plant import Plant

from phaseline.model.status import ExecutionStatus


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
