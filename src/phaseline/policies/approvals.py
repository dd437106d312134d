"""The policy of approvals: an execution waits, without using a thread, until a user approves exactly its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phaseline import LifecycleHook
from phaseline.policies.records import CHANGING, is_so, names_of, plan_record

ORDINAL = 150
"""Ordinal of this policy: it is called after hook classes with the default ordinal, 100."""
LOOK_S = 60.0
"""Seconds after which a waiting approval is checked again for its time limit; a new approval is noticed at once."""


class RequireApproval(LifecycleHook):
    """Lets an execution wait until a user approves its plan with ``phaseline executions approve``.

    ``when``: an expression over the plan; the execution waits only if it is true. ``expires_s``: how many seconds the
    execution waits, and also how long an approval is valid. ``approvers``: the users that may approve; empty for all
    users. The user that requested the execution may not approve it, unless ``requester`` is true. ``at_least``: how
    many users must approve. The policy applies to all actions that change something; ``actions`` may name fewer. An
    approval is for the plan that the approver saw; it becomes invalid if the deployment changes afterwards.
    """

    actions: Sequence[str] = CHANGING

    def __init__(
        self,
        when: str = "",
        expires_s: float = 86_400,
        approvers: Sequence[str] = (),
        at_least: int = 1,
        requester: bool = False,  # noqa: FBT001, FBT002 - options are named
        actions: Sequence[str] = actions,
        ordinal: float = ORDINAL,
    ) -> None:
        """Check the options. Raises ``ValueError`` for invalid ones."""
        if expires_s <= 0 or at_least < 1:
            raise ValueError("'expires_s' is more than 0 and 'at_least' 1 or more")
        if approvers and at_least > len(set(approvers)):
            raise ValueError(f"'at_least' asks for {at_least} of {len(set(approvers))} approvers")
        self.when = names_of("when", when) if when else None
        self.expires_s, self.approvers, self.at_least = expires_s, frozenset(approvers), at_least
        self.requester, self.actions, self.ordinal = requester, tuple(actions), ordinal

    def get_ordinal(self) -> float:
        """Return an ordinal after all policies that only refuse, so that no approval is requested for a plan that is
        refused.
        """
        return self.ordinal

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Return if the plan is approved, otherwise ask to be called again.

        Raises ``TimeoutError`` if it was not approved in time.
        """
        if not self._applies(cnxt, stack, current_stack):
            return
        now, plan = cnxt.at.timestamp(), cnxt.plan
        fresh = [one for one in cnxt.approvals if one.at + self.expires_s > now and self._may(one.actor, cnxt.user)]
        agreed = {one.actor for one in fresh if one.plan == plan}
        if len(agreed) >= self.at_least:
            cnxt.log(f"plan {plan} is approved by {', '.join(sorted(agreed))}")
            return
        left = float(cnxt.data.setdefault("since", now)) + self.expires_s - now
        if left <= 0:
            raise TimeoutError(f"plan {plan} was not approved within {self.expires_s:,.0f} s")
        is_news = cnxt.data.get("plan") != plan
        cnxt.data.update(plan=plan, approvers=sorted(self.approvers), besides=[] if self.requester else [cnxt.user])
        text = f"waits for approval of plan {plan}: phaseline executions approve {cnxt.execution_id}"
        if agreed:
            text += f" ({len(agreed)} of {self.at_least}: {', '.join(sorted(agreed))})"
        others = sorted({one.actor for one in fresh} - agreed)
        if others:
            text += f" (another plan was approved by {', '.join(others)})"
        strangers = sorted({one.actor for one in cnxt.approvals if not self._may(one.actor, cnxt.user)})
        if strangers:
            text += f" ({', '.join(strangers)} may not approve it)"
        if is_news:
            cnxt.log(text)
        cnxt.again(min(LOOK_S, left), text)

    def do_preview_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Warn that the plan will need an approval."""
        if self._applies(cnxt, stack, current_stack):
            who = f" of {', '.join(sorted(self.approvers))}" if self.approvers else ""
            cnxt.warn(f"will wait for the approval{who}")

    def _applies(self, cnxt: Any, stack: Any, target: Any) -> bool:
        if self.when is None:
            return True
        expression, wanted = self.when
        return is_so(expression, plan_record(cnxt, stack, target, wanted), "the plan")

    def _may(self, actor: str, wants: str) -> bool:
        return (not self.approvers or actor in self.approvers) and (self.requester or actor != wants)
