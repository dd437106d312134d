"""Listeners hear that resources have reached a state, and hold nothing up (phases.md, section 9)."""

import threading
import time
from dataclasses import replace

import pytest
from tests.run.worlds import PATIENCE_S
from tests.run.yard import Yard, phase

from phaseline.records.record import ReadOnlyAttributeError


def test_p79_one_call_with_all_that_arrived_together() -> None:
    yard = Yard(phase("X"))
    heard = yard.hear("Started")
    yard.start("a", "b")
    for one in yard.called():
        yard.answered.add((one.batch, one.member))
        yard.inbox.post(yard.report(one))
    yard.settle()
    event = heard.events.get(timeout=PATIENCE_S)
    assert (event.getType(), event.getState(), event.getClusterName()) == ("Cloud.Node", "Started", "lab")
    assert event.getResources().names() == ["a", "b"]


def test_p41_states_that_are_passed_through_are_told_too() -> None:
    yard = Yard()
    heard = yard.hear()
    yard.start("a")
    states = ["Allocation", "Configuration", "Initialization", "Installation", "Started", "Validation"]
    assert heard.wait(6) == [(state, ["a"]) for state in states]


def test_p80_a_listener_that_raises_leaves_one_line_and_nothing_else() -> None:
    yard = Yard()
    yard.hear("Started")

    def angry(_event: object) -> None:
        raise ValueError("not today")

    yard.source.functions["hear"] = angry
    row = yard.start("a")
    assert yard.state("a") == "Started"
    until = time.monotonic() + PATIENCE_S
    while not yard.store.logs(row.number) and time.monotonic() < until:
        yard.inbox.wait(100)
        yard.settle()
    (line,) = yard.store.logs(row.number)
    assert (line.level, line.text) == ("error", "the listener 'hearing' of Started raised ValueError: not today")
    assert yard.document_of("a") == {}


def test_p81_a_slow_listener_delays_no_phase() -> None:
    yard = Yard(phase("X"))
    yard.hear("Validation")
    leave = threading.Event()
    yard.source.functions["hear"] = lambda _event: leave.wait(PATIENCE_S)
    yard.start("a")
    yard.complete("X", "a")
    assert yard.state("a") == "Started"
    leave.set()


def test_p82_other_states_and_types_do_not_call_it() -> None:
    yard = Yard()
    heard = yard.hear("Started", "Allocation")
    yard.source.listeners[0] = replace(yard.source.listeners[0], resource_types=("Cloud.Node",))
    yard.start("a")
    assert [state for state, _ in heard.wait(2)] == ["Allocation", "Started"]
    yard.source.listeners[0] = replace(yard.source.listeners[0], resource_types=("Disk",))
    yard.renew()
    yard.start("b")
    assert heard.events.empty()


def test_p84_resources_of_two_clusters_are_two_events() -> None:
    yard = Yard(phase("X"))
    heard = yard.hear("Started")
    yard.add("a")
    yard.add("b", cluster="other")
    yard.reach("Started", "a")
    yard.reach("Started", "b", cluster="other")
    yard.complete_all()
    found = [heard.events.get(timeout=PATIENCE_S) for _ in range(2)]
    assert sorted((event.getClusterName(), event.getResources().names()) for event in found) == [
        ("lab", ["a"]),
        ("other", ["b"]),
    ]


def test_p99_the_resources_are_as_they_were_and_are_not_to_be_written() -> None:
    yard = Yard(phase("X"))
    heard = yard.hear("Allocation")
    yard.start("a", Size=1)
    yard.edit("a", Size=2)
    node = heard.events.get(timeout=PATIENCE_S).getResources()[0]
    assert (node["Size"], node["State"], node["TargetState"]) == (1, "Allocation", "Started")
    with pytest.raises(ReadOnlyAttributeError):
        node["Size"] = 3


def test_of_too_many_events_the_oldest_are_dropped() -> None:
    yard = Yard()
    yard.hear("Started")
    yard.engine.phases.listeners.most_waiting = 3
    leave = threading.Event()
    yard.source.functions["hear"] = lambda _event: leave.wait(PATIENCE_S)
    for number in range(10):
        yard.start(f"n{number}")
    assert yard.engine.phases.listeners.dropped >= 4
    leave.set()
