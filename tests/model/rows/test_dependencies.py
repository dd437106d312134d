"""DP7: the workflows that are refused are workflows that exist."""

from phaseline.model.execution.execution import WATCHED_WORKFLOWS
from phaseline.plan.requests.touched import AS_A_WHOLE, BY_CLAIM, BY_PLAN, LIKE_CLOUDIFY
from phaseline.plan.workflows import PLANNERS


def test_dp7_each_watched_workflow_has_a_planner_or_is_the_deletion_of_records() -> None:
    assert WATCHED_WORKFLOWS - PLANNERS.keys() == {"delete"}


def test_dp7_for_each_watched_workflow_it_is_known_what_it_touches() -> None:
    assert AS_A_WHOLE | BY_CLAIM | BY_PLAN | {"heal"} == WATCHED_WORKFLOWS
    assert LIKE_CLOUDIFY < WATCHED_WORKFLOWS
