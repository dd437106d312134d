"""Policies are asked before everything that changes something, unless their options say otherwise (decision 41)."""

from __future__ import annotations

import pytest

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.protocol.hook_lookup import Usage
from phaseline.model.execution.lifecycle_actions import ACTIONS, ROLLBACK, WORKFLOW
from phaseline.policies.approvals import RequireApproval
from phaseline.policies.freezing import Freeze
from phaseline.policies.quotas import Quota
from phaseline.policies.records import CHANGING
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

LOOKING = {"CHECK", "VALIDATE_AGENTS", "SNAPSHOT", ROLLBACK}
"""Actions that change nothing, or take back what has failed."""
MADE = [RequireApproval(), Freeze([{"days": "mon"}]), Quota("team", 1)]


def test_d41_every_action_is_either_asked_about_or_known_to_change_nothing() -> None:
    assert set(CHANGING) | LOOKING == {*ACTIONS.values(), WORKFLOW}
    assert not set(CHANGING) & LOOKING


@pytest.mark.parametrize("policy", MADE, ids=lambda one: type(one).__name__)
def test_d41_policies_are_asked_before_all_that_changes_something(policy: RequireApproval | Freeze | Quota) -> None:
    assert set(policy.actions) == set(CHANGING)


@pytest.mark.parametrize("action", ["HEAL", "EXECUTE_OPERATION", "STOP", "ADOPT", "START"])
def test_d41_an_approval_is_waited_for_before_it(action: str) -> None:
    assert called(RequireApproval(), farm(1), action=action, workflow=action.lower()).kind == "again"


def test_d41_options_name_other_actions() -> None:
    assert Quota("team", 1, actions=["ADOPT"]).actions == ("ADOPT",)


def farm(count: int) -> LoadedDeployment:
    return deployment(topology(blueprint(node("web", instances=count))), labels={"team": ["web"]})


def test_what_leaves_a_deployment_as_large_as_it_is_is_warned_of_beyond_a_quota() -> None:
    own = [Usage("shop", {("cloudify.nodes.Root",): 3})]
    answer = called(Quota("team", 2), farm(3), usage=own, action="STOP", workflow="stop")
    assert answer.kind == "agreed"
    assert "with shop it would be 3" in answer.warnings[0]
    assert called(Quota("team", 2), farm(4), usage=own, action="HEAL", workflow="heal").kind != "agreed"
    assert called(Quota("team", 0), farm(3), usage=own, action="DELETE", workflow="uninstall").kind == "agreed"
