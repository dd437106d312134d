"""Names of the steps in the graph of a state."""

import pytest

from phaseline.model.graph.graph import EXIT_PREFIX, LANE_PREFIX, STATE_PREFIX, is_of_state, phase_of, state_entered


@pytest.mark.parametrize(
    ("step", "phase", "state", "calls_nothing"),
    [
        (f"{LANE_PREFIX}Acme.Create", "Acme.Create", None, False),
        (f"{STATE_PREFIX}Allocation", None, "Allocation", True),
        (f"{EXIT_PREFIX}Allocation", None, None, True),
        ("cloudify.interfaces.lifecycle.create", None, None, False),
    ],
)
def test_a_step_is_of_a_phase_or_of_a_state_or_of_neither(
    step: str, phase: str | None, state: str | None, *, calls_nothing: bool
) -> None:
    assert (phase_of(step), state_entered(step), is_of_state(step)) == (phase, state, calls_nothing)
