"""Saved filters: create, list, show and delete them (LB3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from phaseline.lang.did_you_mean import suggestion
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.estate import SavedFilter
from phaseline.records.filters.rules import parse_rules, rule_object, rules_of_json, text_of_rule

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.records.filters.row_attributes import FilteredKind

NOUNS = ("deployments", "blueprints")
"""The lists for which filters are saved."""


@frozen
class FilterView:
    """A saved filter. ``noun``: the list it is for; ``rules``: their texts; ``json_rules``: the same as JSON has them."""

    name: str
    noun: str
    rules: Sequence[str]
    json_rules: Sequence[dict[str, object]]
    created_at: int
    created_by: str


def create_filter(ctx: RequestContext, name: str, rules: Sequence[str], *, noun: str = "deployments") -> FilterView:
    """Save rules under a name. Raises: PL-C094, PL-C150, PL-C151, PL-C153; then nothing is stored."""
    kind = _kind(noun)
    reason = why_no_name(name) or ("is empty" if not name else "begins with '@'" if name.startswith("@") else "")
    if reason:
        raise problem_error("PL-C094", f"the name '{shown_name(name)}' of a filter {reason}", MEND, subject=name)
    read = parse_rules(rules, kind)
    if not read:
        mend = f"give it rules: phaseline filters create {name} --rule env=prod"
        raise problem_error("PL-C150", f"the filter '{name}' has no rules", mend, subject=name)
    row = SavedFilter(kind, name, json.dumps([rule_object(rule) for rule in read]), ctx.clock.now(), ctx.actor.name)
    if not ctx.store.filters.add(row, ctx.actor):
        mend = f"choose another name, or delete that one: phaseline filters delete {name} --for {kind}"
        raise problem_error("PL-C153", f"there is a filter '{name}' for {kind} already", mend, subject=name)
    return _view(row)


def list_filters(ctx: RequestContext, *, noun: str | None = None) -> Sequence[FilterView]:
    """Return the saved filters by list and name, or those for one list. Raises: PL-C094 for an unknown list."""
    return [_view(row) for row in ctx.store.filters.all("" if noun is None else _kind(noun))]


def show_filter(ctx: RequestContext, name: str, *, noun: str = "deployments") -> FilterView:
    """Return one saved filter. Raises: PL-C152."""
    row = ctx.store.filters.find(_kind(noun), name)
    if row is None:
        raise _unknown(ctx, noun, name)
    return _view(row)


def delete_filter(ctx: RequestContext, name: str, *, noun: str = "deployments") -> FilterView:
    """Delete a saved filter. Raises: PL-C152."""
    found = show_filter(ctx, name, noun=noun)
    if not ctx.store.filters.remove(noun, name):
        raise _unknown(ctx, noun, name)
    return found


def _view(row: SavedFilter) -> FilterView:
    rules = rules_of_json(json.loads(row.rules), cast("FilteredKind", row.noun))
    texts = [text_of_rule(rule) for rule in rules]
    return FilterView(row.name, row.noun, texts, [rule_object(rule) for rule in rules], row.created_at, row.created_by)


def _unknown(ctx: RequestContext, noun: str, name: str) -> ProblemsError:
    hint = suggestion(name, [row.name for row in ctx.store.filters.all(noun)])
    mend = f"{hint}see: phaseline filters list"
    return problem_error("PL-C152", f"there is no filter '{name}' for {noun}", mend, subject=name)


def _kind(noun: str) -> FilteredKind:
    if noun not in NOUNS:
        hint = suggestion(noun, NOUNS)
        raise problem_error("PL-C094", f"there are no filters for '{noun}'", f"{hint}there are: {', '.join(NOUNS)}")
    return cast("FilteredKind", noun)
