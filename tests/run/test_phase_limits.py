"""Limits of the calls of a phase: batches, intervals, runs at once, rates (X5 to X7), and long runs (P98)."""

from dataclasses import replace

from tests.run.engines import all_of
from tests.run.yard import Yard, phase

from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import RequestKind


def test_p106_a_batch_has_at_most_so_many() -> None:
    yard = Yard(phase("X", policy={"max_batch": 3}))
    yard.start("a", "b")
    yard.start("c", "d")
    yard.start("e")
    assert yard.runs() == [("X", ["a", "b"])]
    yard.post(all_of(yard.executor.batches[1]))
    assert [(name, sorted(members)) for name, members in yard.runs()[1:]] == [("X", ["c", "d", "e"])]


def test_p106_of_many_that_arrive_together_runs_take_so_many_each() -> None:
    yard = Yard(phase("X", policy={"max_batch": 40}))
    yard.start(*[f"n{number:03}" for number in range(100)])
    while yard.state("n099") != "Started":
        yard.post(all_of(yard.executor.batches[max(yard.executor.batches)]))
    assert [len(names) for _, names in yard.runs()] == [40, 40, 20]


def test_p106_between_the_starts_of_two_runs_lies_the_interval() -> None:
    yard = Yard(phase("X", policy={"min_interval_s": 5.0}))
    yard.start("a")
    yard.complete("X", "a")
    yard.start("b")
    yard.pass_time(1)
    yard.start("c")
    assert yard.runs() == [("X", ["a"])]
    assert yard.engine.wakes_at == yard.clock.now() + 4_000
    yard.pass_time(4)
    assert yard.runs()[1:] == [("X", ["b", "c"])]


def test_p107_several_runs_at_once_have_different_resources() -> None:
    yard = Yard(phase("X", policy={"max_concurrency": 2, "max_batch": 2}))
    yard.start("a", "b", "c", "d", "e")
    assert yard.runs() == [("X", ["a", "b"]), ("X", ["c", "d"])]
    yard.post(all_of(yard.executor.batches[1]))
    assert yard.runs()[2:] == [("X", ["e"])]


def test_p108_calls_are_counted_for_each_account_over_all_phases() -> None:
    limits = {"rate_limit": 0.5, "rate_limit_key": "Account", "max_concurrency": 9}
    yard = Yard(phase("X", policy=limits), phase("Y", policy=limits))
    yard.start("a", Account="one")
    yard.start("b", Account="two")
    assert sorted(names for _, names in yard.runs()) == [["a"], ["b"]]
    yard.pass_time(1)
    assert len(yard.runs()) == 2
    yard.pass_time(1)
    assert len(yard.runs()) == 4


def test_p108_a_burst_comes_at_once_and_then_the_rate_holds() -> None:
    limits = {"rate_limit": 1.0, "rate_limit_burst": 2, "max_batch": 1, "max_concurrency": 9}
    yard = Yard(phase("X", policy=limits))
    yard.start("a", "b", "c", "d")
    assert len(yard.runs()) == 2
    yard.pass_time(1)
    assert len(yard.runs()) == 3
    yard.pass_time(1)
    assert len(yard.runs()) == 4


def test_p108_a_provider_that_is_asked_too_often_is_asked_half_as_often_for_a_while() -> None:
    limits = {"rate_limit": 1.0, "max_batch": 1}
    yard = Yard(phase("X", policy=limits))
    yard.start("a", "b", "c")
    one = yard.find("X", "a")
    yard.answered.add((one.batch, one.member))
    yard.post(replace(yard.report(one, OutcomeKind.AGAIN, delay_ms=60_000), is_throttled=True))
    yard.pass_time(1)
    assert len(yard.runs()) == 1
    yard.pass_time(1)
    assert [names for _, names in yard.runs()[1:]] == [["b"]]
    yard.complete("X", "b")
    assert yard.engine.wakes_at == yard.clock.now() + 1_667


def test_resources_of_different_batch_keys_are_never_in_one_run() -> None:
    yard = Yard(phase("X", policy={"batch_key": "Region"}))
    yard.add("a", "b", Region="north")
    yard.add("c", Region="south")
    yard.add("d")
    yard.reach("Started")
    assert sorted(yard.runs()) == [("X", ["a", "b"]), ("X", ["c"]), ("X", ["d"])]


def test_p105_the_token_of_an_operation_outlives_the_process_and_changes_with_a_retry() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    token = yard.find("X", "a").token
    yard.crash()
    again = yard.find("X", "a")
    assert again.token == token
    yard.answer(again, OutcomeKind.FAILED, message="no")
    yard.about(RequestKind.RETRY, "X", "a")
    assert yard.find("X", "a").token != token


def test_p106_sleepers_that_are_due_soon_come_along_where_the_phase_wants_that() -> None:
    yard = Yard(phase("X", policy={"coalesce_window_s": 5.0}))
    yard.start("a", "b")
    yard.answer(yard.find("X", "a"), OutcomeKind.AGAIN, delay_ms=15_000)
    yard.answer(yard.find("X", "b"), OutcomeKind.AGAIN, delay_ms=60_000)
    yard.pass_time(9)
    yard.start("c")
    assert yard.runs()[1:] == [("X", ["c"])]
    yard.complete("X", "c")
    yard.pass_time(2)
    yard.start("d")
    assert [sorted(names) for _, names in yard.runs()[2:]] == [["a", "d"]]
    assert yard.stay("b") == {"X": "sleeping"}


def test_pd45_a_phase_that_is_read_anew_with_other_limits_has_still_one_run() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    yard.source.phases = [phase("X", policy={"max_batch": 5})]
    yard.renew()
    yard.start("b")
    assert yard.runs() == [("X", ["a"])]
    yard.complete("X", "a")
    assert yard.runs()[1:] == [("X", ["b"])]
