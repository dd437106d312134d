"""Shell tasks on this machine: where they run, how they fail, how they are ended."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from tests.run.worlds import World
from tests.tasks.tasked import RUNNERS, inputs_of, living, pids_in, script, world

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.calls.batches.trial_call import Trial, TrialMember
from phaseline.model.graph.status import OutcomeKind
from phaseline.tasks.local_host import Here
from phaseline.tasks.remote_shell import run
from phaseline.tasks.shell_scripts import lived
from phaseline.tasks.task_types import shell

Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(parameters: dict[str, Any], **fields: Any) -> World:
        made.append(world(tmp_path, parameters, **fields))
        return made[-1]

    yield build
    for one in made:
        one.close()


def test_d25_a_task_without_a_remote_host_runs_in_the_instance_s_work_folder(make: Make, tmp_path: Path) -> None:
    script(
        tmp_path,
        "deploy.sh",
        'pwd; echo "$PHASELINE_NODE $PHASELINE_INSTANCE $PHASELINE_PACKAGE $PHASELINE_STAGE"; echo oh >&2',
    )
    answer = make({"cmd": "./deploy.sh"}, settings={"mtu": 9000}).run(1)
    assert answer.kind is OutcomeKind.COMPLETED
    assert sorted(answer.lines) == [
        "<err> oh",
        f"<out> {tmp_path / 'work/app/web_1/net-1.0.2'}",
        "<out> web web_1 net-1.0.2 post_deployment/100",
    ]
    assert not answer.remarks


def test_settings_of_the_package_are_in_the_environment_as_json(make: Make) -> None:
    answer = make({"cmd": 'printf "%s\\n" "$PHASELINE_SETTINGS"'}, settings={"text": "it's\n2"}).run(1)
    assert [json.loads(line.removeprefix("<out> ")) for line in answer.lines] == [{"text": "it's\n2"}]


def test_f30_a_failure_names_package_task_instance_exit_code_and_last_lines(make: Make) -> None:
    answer = make({"cmd": "for n in 1 2 3 4 5 6 7; do echo line $n; done; exit 3"}).run(1)
    assert answer.kind is OutcomeKind.RETRY
    assert answer.message == (
        "net-1.0.2: tasks.yaml task 1 (post_deployment/100) on web_1: exit code 3; its last lines:\n"
        "    line 3\n    line 4\n    line 5\n    line 6\n    line 7"
    )


def test_f29_of_three_instances_only_the_failed_one_is_told_to_be_tried_again(make: Make) -> None:
    answer = make({"cmd": '[ "$PHASELINE_INSTANCE" != web_2 ]'}, instances=3).run(1, 2, 3)
    assert answer.kinds == {0: OutcomeKind.COMPLETED, 1: OutcomeKind.RETRY, 2: OutcomeKind.COMPLETED}


@pytest.mark.parametrize("command", ["no-such-program", "./not-executable"])
def test_d6_what_cannot_be_started_is_not_tried_again(make: Make, tmp_path: Path, command: str) -> None:
    script(tmp_path, "not-executable", "true")
    (tmp_path / "package" / "scripts" / "not-executable").chmod(0o644)
    answer = make({"cmd": command}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "it could not be started: exit code 12" in answer.message


def test_f32_a_command_that_is_ended_before_it_leads_its_group_never_begins(tmp_path: Path) -> None:
    text = lived(f"touch {tmp_path}/began; sleep 60", mark=f"early-{tmp_path}.", folder=str(tmp_path))
    slow = text.replace("exec setsid", f"touch {tmp_path}/ready; while [ -d {tmp_path} ]; do :; done; exec setsid")
    assert slow != text
    with subprocess.Popen(["sh", "-c", slow], stdin=subprocess.PIPE, start_new_session=True) as process:
        while not (tmp_path / "ready").exists():
            assert process.poll() is None
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 128 + signal.SIGTERM
    assert not (tmp_path / "began").exists()


FAMILY = """
echo $$ > PIDS
sleep 60 & echo $! >> PIDS
setsid sleep 61 & echo $! >> PIDS
(trap '' TERM; sleep 62) & echo $! >> PIDS
echo ready
sleep 63
"""
"""A command with children in its session, in one of their own, and one that does not listen to SIGTERM."""


def quick_to_kill(text: str) -> str:
    return text.replace("(trap '' TERM; sleep 62) & echo $! >> PIDS\n", "")


def test_f32_a_task_that_takes_too_long_is_ended_with_its_children(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "slow.sh", quick_to_kill(FAMILY).replace("PIDS", f"{tmp_path}/pids"))
    for timeout in (0.5, 5, 25):  # a slow machine may not even come to begin it in time
        answer = make({"cmd": "./slow.sh", "timeout": timeout}).run(1)
        assert answer.kind is OutcomeKind.FAILED, "the time-out covers all attempts"
        if "<out> ready" in answer.lines:
            break
    text = f"on web_1: timed out after {timeout} s; what it had started was ended; its last lines:\n    ready"
    assert text in answer.message
    assert len(pids_in(tmp_path / "pids")) == 3
    assert living(tmp_path / "pids") == []


def test_what_does_not_listen_to_sigterm_is_killed_after_a_grace(tmp_path: Path) -> None:
    text = lived(
        f"(trap '' TERM; sleep 62) & echo $! > {tmp_path}/pids; wait",
        mark=f"{tmp_path}.",
        folder=str(tmp_path),
        grace_s=0,
    )
    for limit in (0.3, 5, 25):  # a slow machine may not even come to begin it in time
        ended = asyncio.run(run(Here(str(tmp_path)), text, limit_s=lambda limit=limit: limit))
        assert ended is not None
        assert ended.is_late
        if (tmp_path / "pids").exists() and pids_in(tmp_path / "pids"):
            break
    assert len(pids_in(tmp_path / "pids")) == 1
    assert living(tmp_path / "pids") == []


def test_an_attempt_may_have_a_limit_of_its_own_and_is_tried_again_then(make: Make) -> None:
    answer = make({"cmd": "sleep 60", "timeout": 3600, "attempt_timeout": 0.3}).run(1)
    assert answer.kind is OutcomeKind.RETRY
    assert "this attempt timed out after 0.3 s" in answer.message, "wherever it stood"
    assert answer.remarks[0].result is not None, "when the first attempt began is remembered for the next"


def test_an_attempt_whose_time_is_over_while_its_files_are_sent_is_tried_again_too(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, "bin/tar", "sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}/package/scripts/bin:/usr/bin:/bin")
    answer = make({"cmd": "true", "timeout": 3600, "attempt_timeout": 0.3}).run(1)
    assert answer.kind is OutcomeKind.RETRY
    assert "this attempt timed out after 0.3 s, while files were sent to this machine" in answer.message
    assert make({"cmd": "true", "timeout": 0.3}).run(1).kind is OutcomeKind.FAILED, "no attempt has any time left"


def test_f32_the_time_of_all_attempts_is_counted_from_the_first(tmp_path: Path) -> None:
    inputs = inputs_of(tmp_path, {"cmd": f"touch {tmp_path}/ran"})
    long_ago = TrialMember(inputs=inputs, data={"token": "trial-1-0-0", "since": 0.0}, attempt=1)
    of_another_try = TrialMember(inputs=inputs, data={"token": "another", "since": 0.0}, attempt=1)
    (late,) = Trial([long_ago]).call(shell, CallerRegistry(make_caller))
    assert (late.outcome, (tmp_path / "ran").exists()) == ("failed", False)
    assert late.message.endswith("timed out after 300 s")
    (good,) = Trial([of_another_try]).call(shell, CallerRegistry(make_caller))
    assert good.outcome == "completed", "what a user has tried again begins anew"


def test_f20_a_timeout_of_0_is_no_limit(make: Make) -> None:
    assert make({"cmd": "true", "timeout": 0}).run(1).kind is OutcomeKind.COMPLETED


def test_d2_a_kill_ends_the_processes_of_a_task(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "slow.sh", quick_to_kill(FAMILY).replace("PIDS", f"{tmp_path}/pids"))
    made = make({"cmd": "./slow.sh"})
    batch = made.batch(1)
    made.executor.submit(batch)
    answer = made.wait_for_line("ready")
    made.executor.cancel(batch.id, np.array([0]), kill=True)
    made.wait(1, answer)
    assert answer.kind is OutcomeKind.FAILED
    assert answer.message == "its processes were ended on request"
    assert living(tmp_path / "pids") == []


def test_an_engine_that_leaves_ends_its_tasks_and_says_nothing_of_them(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "slow.sh", quick_to_kill(FAMILY).replace("PIDS", f"{tmp_path}/pids"))
    made = make({"cmd": "./slow.sh"})
    made.executor.submit(made.batch(1))
    answer = made.wait_for_line("ready")
    made.executor.stop(0)
    for report in made.inbox.take_all():
        answer.take(report)
    assert not answer.kinds
    assert living(tmp_path / "pids") == []


def test_what_an_earlier_attempt_left_is_ended_before_the_next_begins(make: Make, tmp_path: Path) -> None:
    made = make(
        {"cmd": f"[ -f {tmp_path}/pids ] && exit; sleep 60 >/dev/null 2>&1 & echo $! > {tmp_path}/pids; exit 1"}
    )
    assert made.run(1).kind is OutcomeKind.RETRY
    assert len(living(tmp_path / "pids")) == 1, "as after the death of an engine: nobody has ended it"
    assert made.run(1, attempts=1).kind is OutcomeKind.COMPLETED
    assert living(tmp_path / "pids") == []


def test_what_a_task_leaves_in_the_background_goes_on(make: Make, tmp_path: Path) -> None:
    answer = make({"cmd": f"sleep 60 & echo $! > {tmp_path}/pids; echo done"}).run(1)
    assert (answer.kind, answer.lines) == (OutcomeKind.COMPLETED, ["<out> done"])
    left = living(tmp_path / "pids")
    assert len(left) == 1
    make({"cmd": f"kill {left[0]}"}).run(1)


def test_scripts_that_have_changed_are_there_in_their_new_form(make: Make, tmp_path: Path) -> None:
    script(tmp_path, "say.sh", "echo old")
    made = make({"cmd": "./say.sh; echo here > own"})
    assert made.run(1).lines == ["<out> old"]
    script(tmp_path, "say.sh", "echo newer")
    assert made.run(1).lines == ["<out> newer"]
    assert (tmp_path / "work/app/web_1/net-1.0.2/own").read_text() == "here\n"


def test_a_package_without_scripts_has_a_work_folder_too(make: Make, tmp_path: Path) -> None:
    answer = make({"cmd": "pwd"}, scripts="").run(1)
    assert answer.lines == [f"<out> {tmp_path / 'work/app/web_1/net-1.0.2'}"]


@pytest.mark.parametrize("name", ["../../../../x", "..", "a\x1b/b"])
def test_decision_33_the_work_folder_of_a_stored_name_never_leaves_the_store_s(
    make: Make, tmp_path: Path, name: str
) -> None:
    unique = f"mark-{uuid4().hex}"
    answer = make({"cmd": f"touch {unique}"}, name=name).run(1)
    assert answer.kind is OutcomeKind.COMPLETED
    (mark,) = tmp_path.parent.rglob(unique)
    assert mark.parent.parent.parent == tmp_path / "work/app"
    assert mark.parent.name == "net-1.0.2"


def test_cwd_is_where_the_task_says(make: Make, tmp_path: Path) -> None:
    assert make({"cmd": "pwd", "cwd": str(tmp_path)}).run(1).lines == [f"<out> {tmp_path}"]


def test_forty_at_once_hold_no_thread(make: Make) -> None:
    gate = 'n=0; while [ "$(ls ../.. | wc -l)" -lt 40 ] && [ $n -lt 1200 ]; do n=$((n+1)); sleep 0.05; done; [ $n -lt 1200 ]'
    answer = make({"cmd": gate}, instances=40, scripts="").run(*range(1, 41))
    assert set(answer.kinds.values()) == {OutcomeKind.COMPLETED}, "each waits until all others have begun"


def test_no_command_and_no_setting_shows_in_the_list_of_processes(make: Make) -> None:
    answer = make(
        {"cmd": "cat /proc/$PPID/cmdline | tr '\\0' ' '; echo"}, settings={"password": "hunter2"}, scripts=""
    ).run(1)
    assert "hunter2" not in answer.lines[0]
    assert "base64 -d" in answer.lines[0]


def test_a_command_that_cannot_be_tried_again_has_a_runner_that_says_so() -> None:
    from phaseline.catalog.code.declarations import DeclarationReader
    from phaseline.model.deployment.code_location import CodeLocation

    read = DeclarationReader()
    found = {name: read.of(dotted, CodeLocation("/")) for name, dotted in RUNNERS.items()}
    assert {declared.flavour for declared in found.values() if declared is not None} == {"task"}
    once = [name for name, declared in found.items() if declared is None or not declared.repeatable]
    assert once == ["shell_once", "python"]
