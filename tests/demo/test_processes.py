"""The check that nothing is left running sees what runs, and the simulated cloud is a process like any other."""

import subprocess
import sys
from pathlib import Path

from tests.started import Process

from phaseline.demo.processes import end_processes_in, processes_in, running_cloud


def test_a_process_started_with_a_path_of_the_folder_is_seen_and_ended(tmp_path: Path) -> None:
    program = tmp_path / "waiting.py"
    program.write_text("import sys\nprint('here', flush=True)\nsys.stdin.read()\n")
    command = [sys.executable, str(program)]
    with Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seen = processes_in(tmp_path)
        end_processes_in(tmp_path)
    assert [line.split()[0] for line in seen] == [str(process.pid)]
    assert processes_in(tmp_path) == []


def test_the_cloud_answers_while_it_is_needed_and_ends_after(tmp_path: Path) -> None:
    with running_cloud(tmp_path / "cloud.jsonl") as cloud:
        cloud.set_pace(make_ms=1)
        assert cloud.report()["created"] == 0
        assert len(processes_in(tmp_path)) == 1
    assert processes_in(tmp_path) == []


def test_whoever_was_told_the_folder_on_the_way_to_us_is_none_of_them(tmp_path: Path) -> None:
    look = f"from phaseline.demo.processes import processes_in; print(processes_in({str(tmp_path)!r}))"
    program = tmp_path / "look.py"
    program.write_text(look.replace(repr(str(tmp_path)), f"__import__('pathlib').Path({str(tmp_path)!r})"))
    words = f"{sys.executable} {program}; true"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
