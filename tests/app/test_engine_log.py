"""What the engine's log says, and what it never says."""

import json
from pathlib import Path
from typing import cast

from phaseline.app.engine_log import LOG_BYTES, LOGS_KEPT, EngineLog, without_values
from phaseline.model.rows.maintenance import Purged
from phaseline.model.rows.rows import EventRow, ExecutionRow

T0 = 1_800_000_000_000


class Hand:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.at = T0

    def now(self) -> int:
        return self.at


class Named:
    """As much of an execution's row as the log looks at."""

    number, id, deployment_name = 7, "install-7", "shop"


def row_of(number: int) -> ExecutionRow | None:
    return cast("ExecutionRow", Named()) if number == 7 else None


def failures(count: int) -> list[EventRow]:
    return [EventRow(7, T0, "task_failed", "the key hush is wrong", 1, "create") for _ in range(count)]


def test_lines_say_when_who_and_what(tmp_path: Path) -> None:
    log = EngineLog(str(tmp_path / "engine.log"), Hand())
    log.started("phaseline install a.yaml", user="ann")
    log.told([EventRow(7, T0, "workflow_started", "Starting", actor="ann")], row_of)
    log.asked("cancel", "install-7", "bob", "accepted")
    log.stopped("its execution has ended", calls=2)
    lines = (tmp_path / "engine.log").read_text().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("2027-01-15T08:00:00.000Z INFO")
    assert "engine started: phaseline install a.yaml (user ann" in lines[0]
    assert "install-7 of 'shop' started (by ann)" in lines[1]
    assert "cancel install-7 (by bob, answer accepted)" in lines[2]


def test_json_is_one_object_a_line(tmp_path: Path) -> None:
    log = EngineLog(str(tmp_path / "engine.log"), Hand(), form="json")
    log.started("two\nlines", user="ann")
    (line,) = (tmp_path / "engine.log").read_text().splitlines()
    told = json.loads(line)
    assert (told["event"], told["level"], told["user"]) == ("engine_started", "info", "ann")


def test_failures_are_counted_and_told_every_ten_seconds(tmp_path: Path) -> None:
    clock = Hand()
    log = EngineLog(str(tmp_path / "engine.log"), clock)
    log.told(failures(1), row_of)
    for _ in range(100):
        clock.at += 10
        log.told(failures(1_000), row_of)
    clock.at += 10_000
    log.told(failures(1), row_of)
    lines = (tmp_path / "engine.log").read_text().splitlines()
    assert len(lines) == 2
    assert "1 call of create failed" in lines[0]
    assert "100,001 calls of create failed" in lines[1]


def test_what_plugins_say_is_not_written(tmp_path: Path) -> None:
    log = EngineLog(str(tmp_path / "engine.log"), Hand(), level="debug")
    log.told([*failures(2), EventRow(7, T0, "late_result", "returned hush", 1, "create")], row_of)
    log.stopped("x")
    assert "hush" not in (tmp_path / "engine.log").read_text()


def test_values_of_inputs_are_not_part_of_a_command() -> None:
    words = ["phaseline", "install", "a.yaml", "-ikey=hush", "-i", "key=hush", "--input", "key=hush", "--input=a=hush"]
    assert "hush" not in without_values(words)
    assert "key=…" in without_values(words)


def test_a_level_keeps_the_rest_out(tmp_path: Path) -> None:
    log = EngineLog(str(tmp_path / "engine.log"), Hand(), level="warning")
    log.started("x", user="ann")
    log.told(failures(1), row_of)
    assert len((tmp_path / "engine.log").read_text().splitlines()) == 1


def test_a_file_that_has_grown_is_put_aside_and_few_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    log = EngineLog(str(path), Hand())
    for _ in range(LOGS_KEPT + 3):
        with path.open("ab") as file:
            file.truncate(LOG_BYTES + 1)
        log.asked("cancel", "install-7", "ann")
    assert path.stat().st_size < 1_000
    assert len(list(tmp_path.iterdir())) == LOGS_KEPT + 1


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    EngineLog(str(tmp_path / "engine.log"), Hand()).stopped("x")
    assert (tmp_path / "engine.log").stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    log = EngineLog(str(tmp_path), Hand())
    log.stopped("x")
    assert "directory" in log.trouble


def test_no_path_writes_nothing() -> None:
    EngineLog("", Hand()).stopped("x")


def test_what_retention_has_removed_is_told_and_why_it_ended_early(tmp_path: Path) -> None:
    log = EngineLog(str(tmp_path / "engine.log"), Hand())
    log.purged(Purged(executions=3, logs=40), "")
    log.purged(Purged(), "PL-S005: the disk is full")
    removed, trouble = (tmp_path / "engine.log").read_text().splitlines()
    assert "INFO" in removed
    assert removed.endswith("retention removed old data (executions 3, logs 40)")
    assert "WARNING" in trouble
    assert trouble.endswith("retention ended early: PL-S005: the disk is full")
