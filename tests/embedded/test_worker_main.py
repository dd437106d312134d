"""The program of worker processes."""

from phaseline.embedded import worker_main
from phaseline.run.executors.worker_process import PROGRAM


def test_workers_are_started_with_this_program() -> None:
    assert worker_main.__name__ == PROGRAM
