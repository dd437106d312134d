"""Filters of lists: ``--filter`` with an expression or the name of a saved filter, and rules (LB3, LB4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import suggestion
from phaseline.model.problems.problem import problem_error
from phaseline.records.filters.row_condition import RowCondition
from phaseline.records.filters.rule_expressions import expression_of
from phaseline.records.filters.rules import parse_rules, rules_of_json

if TYPE_CHECKING:
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.filters.row_attributes import FilteredKind
    from phaseline.records.filters.rules import FilterRule

SAVED = "@"
"""How the name of a saved filter begins after ``--filter``."""


def rules_of(store: TenantStore, noun: FilteredKind, name: str) -> tuple[FilterRule, ...]:
    """Return the rules of a saved filter. Raises: PL-C152."""
    found = store.filters.find(noun, name)
    if found is None:
        known = [row.name for row in store.filters.all(noun)]
        hint = suggestion(name, known)
        mend = f"{hint}see: phaseline filters list"
        raise problem_error("PL-C152", f"there is no filter '{name}' for {noun}", mend, subject=name)
    return rules_of_json(json.loads(found.rules), noun)


def condition_of(
    store: TenantStore, noun: FilteredKind, text: str = "", rules: Sequence[str] = ()
) -> RowCondition | None:
    """Return the condition of ``--filter`` and ``--rule``, or None if both are empty.

    ``text``: an expression, or ``@NAME``. Raises: PL-C150 to PL-C152, and PL-R004 to PL-R011 for an expression.
    """
    parts = [f"({text})"] if text and not text.startswith(SAVED) else []
    given = rules_of(store, noun, text.removeprefix(SAVED)) if text.startswith(SAVED) else ()
    given += parse_rules(rules, noun)
    if not parts and not given:
        return None
    if not given:
        return RowCondition(text, noun)
    if parts:
        RowCondition(text, noun)  # mistakes are shown in the text that was given
    return RowCondition(" && ".join([*parts, expression_of(given)]), noun)
