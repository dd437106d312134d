"""The policy of rules: an expression on the whole plan or on each planned instance makes it refuse or warn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from phaseline import LifecycleHook
from phaseline.policies.records import instance_records, is_so, names_of, plan_record

SHOWN = 3
"""Number of instance names that a message lists; further instances are only counted."""


class Rule(LifecycleHook):
    """Refuses an action, or warns of it, if an expression is true.

    ``when``: an expression that is evaluated once for the plan; ``each``: an expression that is evaluated for every
    instance (of ``type``, if given). Give exactly one of these two. ``effect``: ``deny`` or ``warn``. ``message``: a
    text shown to users instead of the expression. The rule applies to all actions that add or change instances, unless
    ``actions`` names others.

    >>> Rule(when="InstanceCount > 100", effect="warn").about
    "'InstanceCount > 100' is so"
    """

    actions: Sequence[str] = ("CREATE", "UPDATE", "SCALE", "HEAL", "REINSTALL", "ADOPT", "RESTORE")

    def __init__(
        self,
        when: str = "",
        each: str = "",
        effect: Literal["deny", "warn"] = "deny",
        message: str = "",
        type: str = "",  # noqa: A002 - the word of the settings
        actions: Sequence[str] = actions,
    ) -> None:
        """Parse the expression. Raises ``ValueError`` for invalid options and for an invalid expression."""
        if bool(when) == bool(each):
            raise ValueError("give either 'when' (asked of the plan) or 'each' (asked of every instance)")
        if effect not in {"deny", "warn"}:
            raise ValueError(f"'effect' is deny or warn, not {effect!r}")
        self.expression, self.wanted = names_of("when" if when else "each", when or each)
        self.is_of_each, self.effect, self.type, self.actions = bool(each), effect, type, tuple(actions)
        self.about = message or f"'{when or each}' is so"

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Evaluate the rule. Raises ``ValueError`` if its condition is true and its effect is ``deny``."""
        whole = plan_record(cnxt, stack, current_stack, self.wanted, self.type)
        if not self.is_of_each:
            if is_so(self.expression, whole, "the plan"):
                self._tell(cnxt, self.about)
            return
        found = [
            name
            for name, record in instance_records(whole, current_stack or stack, self.wanted, self.type)
            if is_so(self.expression, record, name)
        ]
        if found:
            more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
            self._tell(cnxt, f"{self.about}: {', '.join(found[:SHOWN])}{more}")

    def do_preview_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Do in a preview what ``do_pre_op`` would do: raise ``ValueError`` or warn."""
        self.do_pre_op(cnxt, stack, current_stack, action)

    def _tell(self, cnxt: Any, text: str) -> None:
        if self.effect == "deny":
            raise ValueError(text)
        cnxt.warn(text)
