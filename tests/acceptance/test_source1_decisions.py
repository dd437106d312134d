"""Decisions of the phase engine (phases.md, section 13) that no numbered case proves: docs/conformance-phases.md names the others."""

from pathlib import Path

import numpy as np
import pytest
from tests.catalog.phases.plugin_files import read_phase
from tests.compat.cyclecloud.runs import Make, runs
from tests.run.yard import Yard, phase

from phaseline.model.graph.status import OutcomeKind
from phaseline.model.phases.phase_data import PHASE_DATA
from phaseline.model.rows.rows import Turn
from phaseline.run.executors.local_executor import Slots

__all__ = ["runs"]
AGAIN, FAILED = OutcomeKind.AGAIN, OutcomeKind.FAILED


def kept(phase: str, **data: str) -> dict[str, object]:
    """What a phase keeps with its resource."""
    return {PHASE_DATA: {phase: data}}


def test_pd6_a_description_is_text_whatever_stands_in_it(tmp_path: Path) -> None:
    found = read_phase(tmp_path, {"Phase.Description": "Creating, starting, 3 at once"})
    assert found.description == "Creating, starting, 3 at once"


def test_pd19_who_entered_the_phase_earlier_comes_first_and_who_came_together_in_the_order_of_the_cluster() -> None:
    yard = Yard(phase("X"))
    yard.add("b", "a", "late", "early")
    yard.reach("Started", "b")
    yard.reach("Started", "early")
    yard.reach("Started", "late", "a")
    yard.complete("X", "b")
    assert yard.runs()[1:] == [("X", ["early", "a", "late"])]


def test_pd21_what_was_canceled_keeps_its_data_for_whoever_cleans_up() -> None:
    yard = Yard(phase("X"), phase("Clean", "Deconfiguration"))
    yard.start("a")
    yard.answer(yard.find("X", "a"), AGAIN, delay_ms=60_000, properties=kept("X", OperationId="op-1"))
    yard.reach("Terminated", "a")
    assert yard.runs()[1:] == [("Clean", ["a"])]
    assert yard.data("a", "X") == {"OperationId": "op-1"}


@pytest.mark.parametrize(
    ("constraint", "status"),
    [
        ("Size", "running"),
        ("Size - 3", None),
        ("Nothing", None),
        ('"yes"', "failed"),
        ("{1}", "failed"),
        ("[a=1]", "failed"),
    ],
)
def test_pd27_only_what_is_true_applies_and_what_is_no_truth_value_fails(constraint: str, status: str | None) -> None:
    yard = Yard(phase("X", constraint=constraint))
    yard.start("a", Size=3)
    assert yard.stay("a") == ({"X": status} if status else {}), "no entry where it does not apply"
    assert yard.state("a") == ("Allocation" if status else "Started")


def test_pd32_a_delay_of_nothing_goes_behind_all_others_that_are_ready() -> None:
    yard = Yard(phase("X"), phase("Y", "Configuration"))
    yard.slots = {"bulk": 1}
    yard.begin_engine()
    yard.start("a")
    yard.complete("X", "a")  # now Y runs with a
    yard.start("b")
    yard.answer(yard.find("Y", "a"), AGAIN, delay_ms=0)
    assert yard.runs()[2:] == [("X", ["b"])]
    yard.answer(yard.find("X", "b"), AGAIN, delay_ms=0)
    assert yard.runs()[3:] == [("Y", ["a"])]


def test_pd33_who_comes_while_the_phase_waits_for_a_thread_rides_along() -> None:
    yard = Yard(phase("X"), phase("Y", "Configuration"))
    yard.slots = {"bulk": 1}
    yard.begin_engine()
    yard.start("a")
    yard.complete("X", "a")  # Y holds the only thread
    yard.start("b")
    yard.start("c")
    assert yard.runs()[2:] == []
    yard.answer(yard.find("Y", "a"), AGAIN, delay_ms=60_000)
    assert yard.runs()[2:] == [("X", ["b", "c"])]


def test_pd48_a_phase_of_two_states_begins_with_nothing_in_each() -> None:
    yard = Yard(phase("X", ("Allocation", "Configuration")))
    yard.start("a")
    yard.answer(yard.find("X", "a"), properties=kept("X", Directory="/tmp/1"))
    assert (yard.state("a"), yard.data("a", "X")) == ("Configuration", None)
    assert yard.runs() == [("X", ["a"])] * 2


def test_pd49_when_all_of_a_run_are_canceled_before_it_begins_its_plugin_is_not_called(runs: Make) -> None:
    world = runs(
        "import threading\nnever = threading.Event()\n"
        "def handle(handler):\n"
        "    (node,) = handler.resources\n"
        "    handler.log('info', 'began with ' + node['Name'])\n"
        "    while not handler.isCanceling(node): never.wait(0.005)\n",
        slots=Slots(bulk=1),
    )
    first, second = world.batch(0), world.batch(1, 2)
    world.executor.submit(first)
    begun = world.wait_for_line("began with vm_1")
    world.executor.submit(second)
    world.executor.cancel(second.id, np.array([0, 1], np.int32), kill=False)
    world.executor.cancel(first.id, np.array([0], np.int32), kill=False)
    assert world.wait(3, begun).lines == ["began with vm_1"]


def test_pd50_whoever_asks_for_it_a_resource_is_in_one_run_of_a_phase() -> None:
    yard = Yard(phase("X", policy={"max_concurrency": 5}))
    yard.start("a")
    yard.reach("Terminated", "a")
    yard.reach("Started", "a")  # X still runs: it is awaited, whoever asks
    assert yard.runs() == [("X", ["a"])]
    yard.complete("X", "a")
    assert yard.runs() == [("X", ["a"]), ("X", ["a"])]


def test_pd52_what_failed_keeps_its_data_until_it_is_retried() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    yard.answer(yard.find("X", "a"), FAILED, message="no", properties=kept("X", OperationId="op-1"))
    yard.pass_time(3600)
    yard.crash()
    assert (yard.stay("a"), yard.data("a", "X")) == ({"X": "failed"}, {"OperationId": "op-1"})


def test_r10_what_a_run_brought_and_what_became_of_its_resources_are_one_transaction() -> None:
    yard = Yard(phase("X"))
    yard.start("a", "b")
    told = [(one, AGAIN if one.instance == "a" else FAILED) for one in yard.called()]
    reports = [yard.report(one, kind, properties={"Id": f"i-{one.instance}"}) for one, kind in told]
    yard.answered.update((one.batch, one.member) for one, _ in told)
    for report in reports:
        yard.inbox.post(report)
    yard.settle()
    (turn,) = [turn for turn in yard.journal if isinstance(turn, Turn) and turn.payload.documents]
    assert [change.written for change in turn.payload.documents] == [{("Id",): "i-a"}, {("Id",): "i-b"}]
    (closed,) = turn.changes.closed
    assert closed.kinds.tolist() == [AGAIN, FAILED]
    assert [page.statuses for page in turn.changes.pages]
