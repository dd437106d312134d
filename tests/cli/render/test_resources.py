"""Resources as text: for how long phases keep them (phases.md, section 11)."""

import pytest

from phaseline.cli.render.resources import resource_list
from phaseline.use_cases.queries.resources.resources import ResourceList
from phaseline.use_cases.queries.resources.rows import ResourceRow
from phaseline.views.phase_entry import PhaseEntryView

MINUTE = 60_000
NOW = 1_000 * MINUTE


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (
            PhaseEntryView("X", "Sleeping", "S", entered_at=NOW - 12 * MINUTE, next_run_at=NOW + 5_000),
            "X Sleeping for 12 min 0 s, in 5 s",
        ),
        (PhaseEntryView("X", "Sleeping", "S", entered_at=NOW - 1_000, next_run_at=NOW + 5_000), "X Sleeping, in 5 s"),
        (
            PhaseEntryView("X", "Failed", "S", "no", entered_at=NOW - 90 * MINUTE, ended_at=NOW - 2 * MINUTE),
            "X Failed for 2 min 0 s: no",
        ),
        (
            PhaseEntryView("X", "Blocked", "S", entered_at=NOW - 61 * MINUTE, waiting_for=("Y",)),
            "X Blocked for 1 h 1 min: for Y",
        ),
        (PhaseEntryView("X", "Running", "S"), "X Running"),
    ],
)
def test_the_list_tells_for_how_long_a_phase_keeps_a_resource_once_that_is_a_minute(
    entry: PhaseEntryView, told: str
) -> None:
    row = ResourceRow("n1", "night", "Cloud.Node", "S", "Started", "Preparing", [entry])
    assert resource_list(ResourceList([row], 1, {"S": 1}), NOW).splitlines()[1].endswith(f"  {told}")
