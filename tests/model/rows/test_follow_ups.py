"""What an outcome makes, as a value (BB1)."""

import pytest

from phaseline.model.blueprint.labels import Relabelled
from phaseline.model.execution.execution import Request
from phaseline.model.rows.follow_ups import FollowUp
from phaseline.model.rows.rows import Actor, NewExecution


@pytest.mark.parametrize(
    ("made", "is_any"),
    [
        (FollowUp(), False),
        (FollowUp(is_numbered=True, is_awaiting=False), False),
        (FollowUp(awaits=(3,)), True),
        (FollowUp(labels=((1, Relabelled()),)), True),
        (FollowUp(executions=(NewExecution(1, Request("install"), Actor("ann"), 0),)), True),
    ],
)
def test_bb1_an_outcome_makes_something_if_anything_is_named(made: FollowUp, is_any: bool) -> None:
    assert bool(made) is is_any
