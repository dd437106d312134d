"""The policy of quotas: limits the number of instances that all deployments with the same label may have together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline import LifecycleHook
from phaseline.policies.records import CHANGING, COMING, GOING, count

OTHERS = "*"
"""Key in ``most`` for all label values that are not named there."""


class Quota(LifecycleHook):
    """Limits the number of instances (of ``type``, if given) for each value of the label ``key``.

    ``most``: the limit for every value, or {value: limit}, with ``*`` for all other values; a value without a limit is
    not checked. A deployment without the label is refused if ``required`` is true. Instances of other deployments are
    counted if they exist, or if an open execution that began before this one may create them. The policy applies to all
    actions that change something; ``actions`` may name fewer. If the limit is exceeded by an action that adds no
    instances, the policy only warns.
    """

    actions: Sequence[str] = CHANGING

    def __init__(
        self,
        key: str,
        most: int | Mapping[str, Any],
        type: str = "",  # noqa: A002 - the word of the settings
        required: bool = False,  # noqa: FBT001, FBT002 - an option of the settings
        actions: Sequence[str] = actions,
    ) -> None:
        """Check the options. Raises ``ValueError`` for a limit that is not a number."""
        self.key, self.type, self.required, self.actions = key, type, required, tuple(actions)
        self.most: dict[str, Any] = dict(most) if isinstance(most, Mapping) else {OTHERS: most}
        for value, bound in self.most.items():
            if not isinstance(bound, int) or bound < 0:
                raise ValueError(f"the most of '{value}' is a number, not {bound!r}")

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Raise ``ValueError`` if the planned number of instances exceeds a limit, or if a required label is missing.

        An action that adds no instances only causes a warning.
        """
        if action in GOING:
            return
        will_be = current_stack or stack
        values = will_be.labels.get(self.key, ())
        if not values and self.required:
            raise ValueError(f"the deployment has no label '{self.key}', which its quota goes by")
        for value in values:
            bound = self.most.get(value, self.most.get(OTHERS))
            if bound is None:
                continue
            own = count(will_be, self.type)
            usage = cnxt.usage(self.key, value)
            others = [one for one in usage if one.deployment != stack.id]
            theirs = sum(one.count(self.type) for one in others)
            if own + theirs > bound:
                standing = sum(one.count(self.type) for one in usage if one.deployment == stack.id)
                what = f"instances of {self.type}" if self.type else "instances"
                told = (
                    f"{self.key}={value} may have {bound:,} {what}: {theirs:,} are there in {len(others):,} other "
                    f"deployments, and with {stack.name} it would be {own + theirs:,}"
                )
                if action in COMING or own > standing:
                    raise ValueError(told)
                cnxt.warn(told)

    def do_preview_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Raise ``ValueError`` if the action would be refused now."""
        self.do_pre_op(cnxt, stack, current_stack, action)
