"""When a deployment is good, and when it needs attention."""

import pytest

from phaseline.model.deployment.instance_states import InstanceState as S
from phaseline.model.graph.status import ExecutionStatus as X
from phaseline.model.rows import deployment_summaries as summaries
from phaseline.model.rows.deployment_summaries import LatestExecution


@pytest.mark.parametrize(
    ("kind", "latest", "present", "has_open", "expected"),
    [
        ("blueprint", None, [S.UNINITIALIZED], False, "not_installed"),
        ("blueprint", LatestExecution(X.RUNNING, "install"), [S.CREATING], True, "in_progress"),
        ("blueprint", LatestExecution(X.COMPLETED, "install"), [S.STARTED], False, "good"),
        ("blueprint", LatestExecution(X.COMPLETED, "adopt"), [S.STARTED], False, "adopted"),
        ("blueprint", LatestExecution(X.COMPLETED, "suspend"), [S.SUSPENDED], False, "suspended"),
        ("blueprint", LatestExecution(X.FAILED, "heal"), [S.STARTED], False, "requires_attention"),
        ("blueprint", LatestExecution(X.ATTENTION, "heal"), [S.STARTED], True, "requires_attention"),
        ("blueprint", LatestExecution(X.COMPLETED, "heal"), [S.STARTED, S.CREATING], False, "requires_attention"),
        ("resources", None, [], False, "good"),
        ("resources", LatestExecution(X.FAILED, "reach"), [], False, "requires_attention"),
        ("resources", LatestExecution(X.FAILED, "reach"), [], True, "in_progress"),
    ],
)
def test_the_latest_execution_and_the_states_decide_about_the_status(kind, latest, present, has_open, expected):
    assert summaries.status_of(kind, latest, [int(one) for one in present], has_open=has_open) == expected


def test_a_deployment_is_calm_if_no_failure_of_it_can_matter():
    assert summaries.is_calm("blueprint", X.COMPLETED, [S.CREATING], has_failed=False)
    assert summaries.is_calm("blueprint", X.COMPLETED, [S.STARTED], has_failed=True)
    assert not summaries.is_calm("blueprint", X.COMPLETED, [S.CREATING], has_failed=True)
    assert not summaries.is_calm("blueprint", X.CANCELED, [S.STARTED], has_failed=True)
    assert not summaries.is_calm("resources", X.COMPLETED, [], has_failed=True)
