"""The clock's port and its implementations."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences

from phaseline.app.app_context import SystemClock
from phaseline.ports.clock import Clock
from phaseline.testing.clock import VirtualClock


@pytest.mark.parametrize("kind", [SystemClock, VirtualClock])
def test_every_clock_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(Clock, kind) == []


def test_another_argument_is_found() -> None:
    class Odd:
        def now(self, zone: str = "UTC") -> int:
            return len(zone)

    assert differences(Clock, Odd) == ["now"]
