"""What keeps a resource in its state, and since when."""

import pytest

from phaseline.views.phase_entry import PhaseEntryView


@pytest.mark.parametrize(
    ("status", "is_active"), [("Running", True), ("Failed", True), ("Completed", False), ("Canceled", False)]
)
def test_a_phase_keeps_the_resource_until_it_is_completed_or_canceled(status: str, *, is_active: bool) -> None:
    assert PhaseEntryView("Boot", status, "Started").is_active == is_active


def test_a_failed_phase_keeps_it_since_it_failed_any_other_since_the_resource_came() -> None:
    assert PhaseEntryView("Boot", "Failed", "Started", entered_at=5, ended_at=9).since_at == 9
    assert PhaseEntryView("Boot", "Failed", "Started", entered_at=5).since_at == 5
    assert PhaseEntryView("Boot", "Running", "Started", entered_at=5, ended_at=9).since_at == 5
