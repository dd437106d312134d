"""An execution waits for somebody to agree to exactly this plan."""

from datetime import UTC, datetime, timedelta

import pytest

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.protocol.hook_lookup import Approval
from phaseline.policies.approvals import RequireApproval
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import Answer, called, deployment

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def farm(count: int = 1) -> LoadedDeployment:
    return deployment(topology(blueprint(node("web", instances=count))))


def plan_of(waiting: Answer) -> str:
    return str(waiting.data["plan"])


def approval(waiting: Answer, actor: str = "bob", at: datetime = NOON) -> Approval:
    return Approval(actor, plan_of(waiting), at.timestamp())


def test_it_waits_without_an_approval_and_goes_on_with_one():
    hook = RequireApproval()
    waiting = called(hook, farm(), at=NOON)
    assert (waiting.kind, waiting.after_s) == ("again", 60)
    assert waiting.message == f"waits for approval of plan {plan_of(waiting)}: phaseline executions approve install-1"
    later = NOON + timedelta(minutes=1)
    assert called(hook, farm(), at=later, data=dict(waiting.data), approvals=[approval(waiting)]).kind == "agreed"


def test_an_approval_of_another_plan_does_not_count():
    hook = RequireApproval()
    waiting = called(hook, farm(), at=NOON)
    changed = called(hook, farm(2), at=NOON, approvals=[approval(waiting)])
    assert changed.kind == "again"
    assert changed.message.endswith("(another plan was approved by bob)")
    assert plan_of(changed) != plan_of(waiting)


def test_the_one_who_wants_it_may_not_agree_even_if_he_is_named_unless_the_settings_say_so():
    waiting = called(RequireApproval(), farm(), at=NOON)
    own = [approval(waiting, "ann")]
    refused = called(RequireApproval(), farm(), at=NOON, approvals=own)
    assert refused.message.endswith("(ann may not approve it)")
    named = called(RequireApproval(approvers=["ann", "bob"]), farm(), at=NOON, approvals=own)
    assert named.message.endswith("(ann may not approve it)")
    assert (named.data["approvers"], named.data["besides"]) == (["ann", "bob"], ["ann"])
    for options in ({"requester": True}, {"requester": True, "approvers": ["ann"]}):
        assert called(RequireApproval(**options), farm(), at=NOON, approvals=own).kind == "agreed"
    assert called(RequireApproval(approvers=["eve"]), farm(), at=NOON, approvals=own).kind == "again"


def test_several_have_to_agree():
    hook = RequireApproval(at_least=2)
    waiting = called(hook, farm(), at=NOON)
    one = [approval(waiting), approval(waiting)]
    still = called(hook, farm(), at=NOON, approvals=one)
    assert still.message.endswith("(1 of 2: bob)")
    both = [approval(waiting), approval(waiting, "eve")]
    assert called(hook, farm(), at=NOON, approvals=both).kind == "agreed"


def test_it_waits_no_longer_than_it_was_told():
    hook = RequireApproval(expires_s=100)
    waiting = called(hook, farm(), at=NOON)
    late = called(hook, farm(), at=NOON + timedelta(seconds=50), data=dict(waiting.data))
    assert (late.kind, late.after_s) == ("again", 50)
    over = called(hook, farm(), at=NOON + timedelta(seconds=100), data=dict(waiting.data))
    assert (over.kind, over.message) == ("failed", f"plan {plan_of(waiting)} was not approved within 100 s")


def test_an_approval_is_forgotten_after_the_same_time():
    hook = RequireApproval(expires_s=100)
    waiting = called(hook, farm(), at=NOON)
    old = [approval(waiting, at=NOON - timedelta(seconds=99))]
    assert called(hook, farm(), at=NOON, approvals=old).kind == "agreed"
    assert called(hook, farm(), at=NOON + timedelta(seconds=1), approvals=old).kind == "again"


def test_small_plans_need_nobody():
    hook = RequireApproval(when="InstanceCount > 2")
    assert called(hook, farm(2), at=NOON).kind == "agreed"
    assert called(hook, farm(3), at=NOON).kind == "again"
    assert called(hook, farm(3), method="do_preview_op").warnings == ("will wait for the approval",)


def test_the_plan_is_bound_to_what_is_done_with_it():
    plans = {
        plan_of(called(RequireApproval(), about, at=NOON, workflow=workflow, parameters=parameters))
        for about, workflow, parameters in [
            (farm(), "install", {}),
            (farm(2), "install", {}),
            (farm(), "uninstall", {}),
            (farm(), "uninstall", {"ignore_failure": True}),
        ]
    }
    assert len(plans) == 4


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="asks for 2 of 1 approvers"):
        RequireApproval(approvers=["ann", "ann"], at_least=2)
    with pytest.raises(ValueError, match="more than 0"):
        RequireApproval(expires_s=0)
