"""Progress: a table on a terminal, lines elsewhere."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from phaseline.app.watcher import EVERY_MS, Failing, NullWatcher, Progress, ProgressRow, Throttle
from phaseline.cli.render.progress.live_table import MOST_ROWS, LiveTable, StepRates, bar, cells_of, chosen, draw
from phaseline.cli.render.progress.progress import HEARTBEAT_MS, ProgressLines, Quiet, failing_text, summary
from phaseline.model.graph.status import EntryStatus as Status

CREATE, START = "cloudify.interfaces.lifecycle.create", "cloudify.interfaces.lifecycle.start"


def row(node: str, phase: str, **counts: int) -> ProgressRow:
    return ProgressRow(node, phase, {Status[name.upper()]: count for name, count in counts.items()})


def progress(*rows: ProgressRow, failing: tuple[Failing, ...] = (), wake: int | None = None) -> Progress:
    return Progress("install", rows, failing, len(failing), wake, 1)


def fails(status: Status = Status.SLEEPING, due: int = 15_000) -> Failing:
    return Failing("web_1", CREATE, status, 1, 60, due, "first line\n    curl: no route to host\n")


def drawn(seen: Progress, now: int = 0) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(draw(seen, now, "install-1 of 'shop'", StepRates()))
    return console.file.getvalue()


def lines_of(*looks: tuple[Progress, int]) -> list[str]:
    said: list[str] = []
    reporter = ProgressLines(said.append)
    reporter.begun("install-1", "shop", lambda: None)
    for seen, now in looks:
        reporter.progressed(seen, now)
    return said


def test_the_last_line_of_a_failure_is_told_with_retry_and_time() -> None:
    assert failing_text(fails(), 0) == "web_1 create retry 1 of 60 in 15 s: curl: no route to host"
    assert failing_text(fails(due=0), 5) == "web_1 create retry 1 of 60 now: curl: no route to host"
    assert failing_text(fails(Status.FAILED), 0) == "web_1 create failed: curl: no route to host"


def test_r7_a_failure_heard_of_a_moment_later_tells_the_interval_that_is_configured() -> None:
    late = replace(fails(), interval_ms=15_000)
    assert "retry 1 of 60 in 15 s" in lines_of((progress(failing=(late,)), 2_900))[1]
    assert "retry 1 of 60 in 10 s" in lines_of((progress(failing=(late,)), 5_000))[1]
    assert "retry 1 of 60 in 14 s" in lines_of((progress(failing=(fails(),)), 1_001))[1]


def test_everything_in_one_line() -> None:
    seen = progress(row("web", CREATE, completed=1200, running=200), row("web", START, blocked=7600), wake=15_000)
    assert summary(seen, 0) == "1,200 of 9,000 steps, 200 running, next look in 15 s"


def test_a_line_is_said_when_an_operation_is_through_and_only_once() -> None:
    half, whole = row("web", CREATE, completed=1, running=1), row("web", CREATE, completed=1, failed=1)
    said = lines_of((progress(half), 0), (progress(whole), 100), (progress(whole), 200))
    assert said == ["install-1 of 'shop' runs", "  create: 1 of 2 done, 1 not"]


def test_a_heartbeat_is_said_every_ten_seconds() -> None:
    seen = progress(row("web", CREATE, running=1))
    said = lines_of(*((seen, now) for now in range(0, 3 * HEARTBEAT_MS, 1_000)))
    assert said[1:] == ["  after 10 s: 0 of 1 steps, 1 running", "  after 20 s: 0 of 1 steps, 1 running"]


def test_h46_who_stands_at_a_breakpoint_is_said_once_and_nothing_is_repeated() -> None:
    day = 24 * 3_600_000
    runs = progress(row("web", "breakpoint pre-create", sleeping=1, running=1), row("web", CREATE, blocked=2), wake=day)
    seen = progress(row("web", "breakpoint pre-create", sleeping=2), row("web", CREATE, blocked=2), wake=day)
    looks = [(runs, 0), *((seen, now) for now in range(100, 6 * HEARTBEAT_MS, 1_000))]
    command = "phaseline breakpoints clear pre-create -d shop"
    assert lines_of(*looks)[1:] == [f"  2 instances stopped at pre-create: {command}"]
    fewer = progress(row("web", "breakpoint pre-create", sleeping=1, completed=1), row("web", CREATE, blocked=2))
    assert lines_of(*looks, (fewer, day))[2:] == [f"  1 instance stopped at pre-create: {command}"]
    assert "next look" not in summary(seen, 0)
    beside = progress(row("web", "breakpoint pre-create", sleeping=2), row("db", CREATE, running=1), wake=day)
    assert summary(beside, 0) == "0 of 3 steps, 1 running, 2 sleeping", (
        "who stands looks up once a day, and only to sleep on"
    )
    assert "2 instances stopped at pre-create" in drawn(seen)


def test_an_approval_that_is_waited_for_is_said_once_and_again_only_when_something_else_is_said() -> None:
    asks = Failing("", "hooks.pre.approval", Status.SLEEPING, 0, 0, 60_000, "waits for approval of plan a1")
    seen = progress(row("", "hooks.pre.approval", sleeping=1), failing=(asks,), wake=60_000)
    other = progress(row("", "hooks.pre.approval", sleeping=1), failing=(replace(asks, message="of plan b2"),))
    looks = [(seen, now) for now in range(0, 6 * HEARTBEAT_MS, 1_000)]
    said = [line.strip() for line in lines_of(*looks, (other, 6 * HEARTBEAT_MS - 1), *looks)]
    assert said[1:] == ["hooks.pre.approval waits for approval of plan a1", "hooks.pre.approval of plan b2"]
    assert "next look" not in summary(seen, 0)


def test_h46_while_others_are_tried_again_the_heartbeat_goes_on() -> None:
    seen = progress(row("web", "breakpoint pre-create", sleeping=2), row("db", CREATE, sleeping=1), wake=90_000)
    said = lines_of((seen, 0), (seen, HEARTBEAT_MS))
    assert said[1:] == ["  after 10 s: 0 of 3 steps, 3 sleeping, next look in 1 min 20 s"]


def test_a_failure_is_said_once_for_each_try() -> None:
    seen = progress(row("web", CREATE, sleeping=1), failing=(fails(),))
    assert len(lines_of((seen, 0), (seen, 1_000), (seen, 2_000))) == 2


def test_a_quiet_reporter_says_only_what_must_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = Quiet()
    reporter.begun("install-1", "shop", lambda: None)
    reporter.progressed(progress(row("web", CREATE, running=1)), 0)
    reporter.noticed("read this")
    reporter.ended()
    assert capsys.readouterr().err == "read this\n"
    assert reporter.interrupt is None


def test_the_table_has_a_row_for_each_node_and_operation_with_failures_below() -> None:
    text = drawn(
        progress(row("web", CREATE, completed=1, sleeping=1), row("db", CREATE, running=3), failing=(fails(),))
    )
    assert "web   create" in text
    assert "1/2" in text
    assert "3 running" in text
    assert "retry 1 of 60 in 15 s: curl: no route to host" in text


def test_of_many_rows_those_with_trouble_and_in_work_are_shown_and_the_rest_counted() -> None:
    rows = [row(f"n{number:03}", CREATE, completed=5) for number in range(100)]
    rows[70] = row("n070", CREATE, failed=1)
    rows[80] = row("n080", CREATE, running=1)
    shown = [one.node for one in chosen(rows)]
    assert len(shown) == MOST_ROWS
    assert {"n070", "n080"} <= set(shown)
    assert shown == sorted(shown)
    assert f"… and {100 - MOST_ROWS} more rows" in drawn(progress(*rows))


def test_every_kind_of_status_gets_a_cell_and_the_bar_its_width() -> None:
    assert cells_of([1, 0, 998, 1], 10) == [1, 0, 8, 1]
    assert cells_of([0, 0], 10) == [0, 0]
    assert sum(cells_of([5, 3, 9, 1, 1, 7], 24)) == 24


def test_rates_are_those_of_the_last_seconds() -> None:
    rates = StepRates()
    for now, done in ((0, 0), (1_000, 500), (2_000, 500), (5_000, 500), (9_000, 500)):
        found = rates.rate(row("web", CREATE, completed=done, blocked=1000 - done), now)
    assert found == 0
    assert rates.rate(row("web", CREATE, completed=1000), 10_000) == 100


def test_the_live_table_leaves_nothing_behind_but_what_was_noticed() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    table = LiveTable(console)
    table.begun("install-1", "shop", lambda: None)
    table.progressed(progress(row("web", CREATE, running=1)), 0)
    table.noticed("read [this]")
    table.ended()
    table.ended()
    assert "read [this]" in console.file.getvalue()


def looks(cost: int) -> int:
    """How many looks a second of a minute are let through, each of which takes ``cost`` ms."""
    throttle, count = Throttle(), 0
    for now in range(60_000):
        if throttle.lets_through(now):
            throttle.looked(now, now + cost)
            count += 1
    return count // 60


def test_looks_are_let_through_ten_times_a_second_and_less_often_when_they_cost_time() -> None:
    assert looks(0) == 1_000 // EVERY_MS
    assert looks(20) == 1


def test_nobody_may_watch() -> None:
    nobody = NullWatcher()
    nobody.begun("install-1", "shop", lambda: None)
    nobody.progressed(progress(), 0)
    nobody.noticed("")
    nobody.ended()


CANCEL = "phaseline executions cancel install-1"


def again(attempts: int, message: str = "no route", status: Status = Status.SLEEPING) -> Failing:
    return Failing("web_1", CREATE, status, attempts, 60, attempts * 15_000, message)


def test_from_the_second_equal_failure_on_lines_say_once_how_to_end_it() -> None:
    looks = [(progress(failing=(again(attempts),)), attempts * 1_000) for attempts in (1, 1, 2, 3)]
    ends = [line for line in lines_of(*looks) if CANCEL in line]
    assert ends == [f"  the same failure again; end the retries: {CANCEL}"]
    assert not any(CANCEL in line for line in lines_of(*looks[:2])), "one failure may heal"


def test_lines_say_again_every_three_minutes_how_to_end_equal_failures() -> None:
    seconds = 15
    looks = [(progress(failing=(again(attempts),)), attempts * seconds * 1_000) for attempts in range(1, 61)]
    told = [line for line in lines_of(*looks) if CANCEL in line]
    assert told == [f"  the same failure again; end the retries: {CANCEL}"] * 5  # 15 minutes of equal failures
    healed = [*looks[:20], *((progress(row("web", CREATE, running=1)), at) for at in range(300_000, 900_000, 10_000))]
    assert len([line for line in lines_of(*healed) if "end the retries" in line]) == 2


def test_failures_that_differ_are_no_reason_to_end_it() -> None:
    looks = [(progress(failing=(again(attempts, f"{attempts} of 9"),)), 0) for attempts in (1, 2, 3)]
    assert not any(CANCEL in line for line in lines_of(*looks))


def test_a_failure_that_healed_says_nothing_of_another_one_that_begins() -> None:
    other = replace(again(1), instance="web_2")
    looks = [*((again(attempts),) for attempts in (1, 2)), (other,), (other,)]
    told = lines_of(*((progress(failing=one), at * 200_000) for at, one in enumerate(looks)))
    assert [CANCEL in line for line in told].count(True) == 1
    changed = [again(1), again(2), again(3, "refused"), again(3, "refused")]
    told = lines_of(*((progress(failing=(one,)), at * 200_000) for at, one in enumerate(changed)))
    assert [CANCEL in line for line in told].count(True) == 1


def test_the_table_says_how_to_end_equal_failures_as_long_as_there_are_any() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    table = LiveTable(console)
    table.begun("install-1", "shop", lambda: None)
    looks = (again(1), again(1, status=Status.RUNNING), again(2))
    texts = []
    for failing in looks:
        table.progressed(progress(failing=(failing,)), 0)
        texts.append(console.file.getvalue())
    table.ended()
    assert [CANCEL in text for text in texts] == [False, False, True]


def test_calls_that_do_not_return_name_the_command_that_kills_them() -> None:
    seen = progress(row("web", CREATE, running=1, completed=1))
    looks = [(seen, now) for now in range(0, 200_000, 1_000)]
    killing = [line for line in lines_of(*looks) if "--kill" in line]
    assert killing == [f"  no call has returned for 1 min; if they hang, kill them: {CANCEL} --kill"]
    moving = [(progress(row("web", CREATE, running=1, completed=now)), now * 1_000) for now in range(200)]
    assert not any("--kill" in line for line in lines_of(*moving))


def test_segments_of_a_bar_differ_without_colors() -> None:
    kinds = (Status.COMPLETED, Status.FAILED, Status.SKIPPED, Status.RUNNING, Status.SLEEPING, Status.BLOCKED)
    shown = bar(ProgressRow("web", CREATE, dict.fromkeys(kinds, 1))).plain
    assert len(set(shown)) == len(kinds)
