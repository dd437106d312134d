"""The executor's port and its implementations."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences

from phaseline.ports.executor import Executor
from phaseline.run.executors.local_executor import LocalExecutor
from phaseline.testing.scheduled_reports import ScheduledExecutor


@pytest.mark.parametrize("kind", [LocalExecutor, ScheduledExecutor])
def test_every_executor_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(Executor, kind) == []
