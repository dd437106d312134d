"""Processes are found by their mark and ended with all they started."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phaseline.calls.threads.process_groups import MARK, await_end, end, family, is_alive, marked

Start = Callable[..., subprocess.Popen[str]]
OWN = f"test-processes-{os.getpid()}"
"""The same tests may run beside these in another process."""


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def run(command: str, mark: str) -> subprocess.Popen[str]:
        environment = {**os.environ, MARK: mark}
        started.append(
            subprocess.Popen(
                ["sh", "-c", command], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
        )
        return started[-1]

    yield run
    end(lambda mark: mark.startswith(f"{OWN}:"), grace_s=0)
    for process in started:
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize("size", [0, 9_000, 30_000])
def test_a_process_is_found_while_it_goes_from_one_program_to_the_next(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Its environment cannot be read for a moment then; what is missed lives on after the call whose mark it bears.

    A large one must not be read in parts: the second part may be that of the next program, or none.
    """
    mark = f"{OWN}:restless"
    program = tmp_path / "again.sh"
    program.write_text('exec sh "$0"\n')
    monkeypatch.setenv("BEFORE_THE_MARK", "x" * size)
    restless = start(f"exec sh {program}", mark)
    missed = sum(restless.pid not in marked(lambda each: each == mark) for _ in range(500))
    assert missed == 0


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def is_one(mark: str) -> bool:
    return mark == f"{OWN}:1"


def test_only_processes_of_the_mark_are_found(start: Start) -> None:
    one, two = (start("echo up; sleep 60", f"{OWN}:{number}") for number in (1, 2))
    first_line(one), first_line(two)
    assert one.pid in marked(is_one)
    assert two.pid not in marked(is_one)


def test_a_child_without_the_mark_belongs_to_its_session(start: Start) -> None:
    process = start("env -i sleep 60 & echo $!; wait", f"{OWN}:1")
    child = int(first_line(process))
    assert child not in marked(is_one) or child in family(is_one)
    assert {process.pid, child} <= family(is_one)


def test_those_that_ignore_sigterm_are_killed_after_the_grace(start: Start) -> None:
    process = start("trap '' TERM; echo up; while :; do sleep 0.05; done", f"{OWN}:1")
    first_line(process)
    assert end(is_one, grace_s=0.2) >= 1
    process.wait(60)
    assert process.returncode == -9


def test_those_that_listen_end_by_themselves(start: Start, tmp_path: Path) -> None:
    process = start(f"trap 'touch {tmp_path}/done; exit 0' TERM; echo up; while :; do sleep 0.02; done", f"{OWN}:1")
    first_line(process)
    end(is_one, grace_s=60)
    process.wait(60)
    assert (tmp_path / "done").exists()


def test_ending_nobody_is_nothing() -> None:
    assert end(lambda mark: mark == f"{OWN}:none") == 0


def test_a_zombie_is_not_alive(start: Start) -> None:
    process = start("exit 0", f"{OWN}:1")
    assert await_end(lambda: {process.pid} if is_alive(process.pid) else set(), 60)
    process.wait()
