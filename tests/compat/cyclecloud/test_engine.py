"""Phase plugins in a whole engine: sleeping, being called again in company, data that is stored, messages on the way."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.compat.cyclecloud.engines import PhaseEngine
from tests.compat.cyclecloud.test_samples import ASYNCHRONOUS, COMMANDS, finish, remote

from phaseline.model.graph.status import EntryStatus

__all__ = ["remote"]

SLEEPING, COMPLETED, FAILED = EntryStatus.SLEEPING, EntryStatus.COMPLETED, EntryStatus.FAILED


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[str], PhaseEngine]]:
    made: list[PhaseEngine] = []

    def build(text: str) -> PhaseEngine:
        made.append(PhaseEngine(tmp_path, text))
        return made[-1]

    yield build
    for engine in made:
        engine.close()


def test_p19_without_a_mark_it_sleeps_15_seconds_from_the_end_of_the_run(begin: Callable[[str], PhaseEngine]) -> None:
    world = begin("def handle(handler): pass\n")
    row = world.install()
    world.until_all_are(row, SLEEPING)
    assert [note.due - world.clock.now() for note in world.notes(row)] == [15_000]


def test_p22_a_phase_may_have_another_delay(begin: Callable[[str], PhaseEngine]) -> None:
    world = begin(
        "def handle(handler):\n"
        "    for node in handler.resources:\n"
        "        data = handler.getResourcePhaseData(node)\n"
        "        data['Calls'] = (data.getAsInteger('Calls') or 0) + 1\n"
    )
    row = world.install(interval_s=2)
    world.until_all_are(row, SLEEPING)
    begun = world.clock.now()
    world.pass_time()
    world.until(lambda: world.data(row) == {"Calls": 2})
    assert world.clock.now() - begun == 2_000


def test_p21_a_sleeper_that_is_not_due_stays_out(begin: Callable[[str], PhaseEngine]) -> None:
    world = begin(
        "def handle(handler):\n"
        "    for node in handler.resources: handler.getResourcePhaseData(node)['Company'] = len(handler.resources)\n"
    )
    first = world.install()
    world.until_all_are(first, SLEEPING)
    second = world.install(3, name="other")
    world.until_all_are(second, SLEEPING)
    assert [world.data(first), world.data(second)] == [{"Company": 1}, {"Company": 3}]


def test_p23_due_times_differ_where_delays_do(begin: Callable[[str], PhaseEngine]) -> None:
    world = begin("def handle(handler): handler.setSleeping(handler.resources[0], delay=5)\n")
    row = world.install(2)
    world.until_all_are(row, SLEEPING)
    assert [note.due - world.clock.now() for note in world.notes(row)] == [5_000, 15_000]


def test_p25_what_failed_keeps_its_message_and_the_log_has_the_traceback(begin: Callable[[str], PhaseEngine]) -> None:
    world = begin(
        "def handle(handler):\n    handler.setCompleted(handler.resources[:4])\n    raise RuntimeError('boom')\n"
    )
    row = world.install(10)
    world.until(lambda: world.engine.has_ended(row.number))
    assert world.statuses(row) == [COMPLETED] * 4 + [FAILED] * 6
    assert {note.message for note in world.notes(row)} == {"RuntimeError: boom"}
    assert any("cloud.py" in line.text for line in world.store.logs(row.number))


def test_p35_the_asynchronous_sample_survives_the_death_of_its_engine(
    begin: Callable[[str], PhaseEngine], remote: Path
) -> None:
    world = begin(ASYNCHRONOUS + COMMANDS)
    row = world.install()
    world.until_all_are(row, SLEEPING)
    directory = world.data(row)["Directory"]
    world.pass_time()
    world.until_all_are(row, SLEEPING)
    assert world.data(row)["Directory"] == directory, "it looked, and went on waiting"
    finish(directory, "0")
    world.engine.executor.stop(0)
    world.begin_engine()
    world.engine.recover()
    world.engine.turn()
    world.pass_time()
    world.until_all_are(row, COMPLETED)
    assert len(list(remote.iterdir())) == 1, "the command was started once"


def test_p36_a_message_is_in_the_store_while_the_run_goes_on(
    begin: Callable[[str], PhaseEngine], tmp_path: Path
) -> None:
    world = begin(
        "from pathlib import Path\n"
        "def handle(handler):\n"
        "    handler.setMessage(handler.resources, 'copying the image')\n"
        f"    Path({str(tmp_path / 'go')!r}).read_text()\n"
        "    handler.setCompleted(handler.resources)\n"
    )
    os.mkfifo(tmp_path / "go")
    row = world.install(2)
    world.until(lambda: [note.message for note in world.notes(row)] == ["copying the image"] * 2)
    assert not world.engine.has_ended(row.number)
    (tmp_path / "go").write_text("")
    world.until_all_are(row, COMPLETED)
    assert {note.message for note in world.notes(row)} == {""}


def test_x4_a_checkpoint_is_in_the_store_when_it_returns(tmp_path: Path) -> None:
    seen: list[list[object]] = []

    def handle(handler) -> None:
        for node in handler.resources:
            handler.getResourcePhaseData(node)["Token"] = handler.operationToken(node)
        handler.save()
        seen.append([world.data(row, number)["Token"] for number in (0, 1)])
        handler.save()
        handler.resources[0]["Size"] = 1
        raise RuntimeError("what was saved stays")

    world = PhaseEngine(tmp_path, "", handle)
    row = world.install(2)
    world.until(lambda: world.engine.has_ended(row.number))
    assert world.statuses(row) == [FAILED] * 2
    assert seen == [[world.data(row, number)["Token"] for number in (0, 1)]]
    assert world.document(row)["Size"] == 1
    world.close()


def test_x4_the_token_outlives_the_engine_and_is_new_when_a_user_tries_again(tmp_path: Path) -> None:
    tokens: list[str] = []

    def handle(handler) -> None:
        tokens.append(handler.operationToken(handler.resources[0]))
        if len(tokens) == 2:
            handler.setFailed(handler.resources, "no")

    world = PhaseEngine(tmp_path, "", handle)
    row = world.install()
    world.until_all_are(row, SLEEPING)
    world.engine.executor.stop(0)
    world.begin_engine()
    world.engine.recover()
    world.engine.turn()
    world.pass_time()
    world.until(lambda: world.engine.has_ended(row.number))
    failed = world.store.execution(row.id)
    assert failed is not None
    world.engine.retry(failed)
    world.until_all_are(row, SLEEPING)
    assert tokens[0] == tokens[1] != tokens[2]
    assert len(tokens) == 3
    world.close()
