"""Dependencies between deployments as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, colored, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.queries.estate.dependencies import DependenciesView, DependencyBranch, DependencyView


def dependencies_text(view: DependenciesView) -> str:
    """Return what a deployment reads, and what reads it, as tables or as trees."""
    parts = []
    if view.of is not None:
        title = f"'{view.deployment}' reads" if view.of else f"'{view.deployment}' reads no other deployment"
        body = _table(view.of, "provider") if view.providers is None else _tree(view.providers)
        parts.append(f"{title}:\n{body}" if view.of else title)
    if view.on is not None:
        title = f"'{view.deployment}' is read by" if view.on else f"no other deployment reads '{view.deployment}'"
        body = _table(view.on, "consumer") if view.consumers is None else _tree(view.consumers)
        parts.append(f"{title}:\n{body}" if view.on else title)
    return "\n".join(parts)


def _table(rows: Sequence[DependencyView], first: str) -> str:
    columns: Columns[DependencyView] = {
        first: lambda one: _provider(one) if first == "provider" else one.consumer,
        "kind": lambda one: one.kind,
        "at": lambda one: one.place,
        "function": lambda one: one.function,
    }
    return table(columns, rows)


def _provider(one: DependencyView) -> str:
    if not one.provider:
        return "(known when it is read)"
    return f"{one.provider} (missing)" if one.is_missing else one.provider


def _tree(branches: Sequence[DependencyBranch]) -> str:
    return "\n".join(
        clean(f"{'  ' * one.depth}{one.deployment}: ") + colored(one.status) + clean(_ties(one)) for one in branches
    )


def _ties(one: DependencyBranch) -> str:
    again = ", shown above" if one.is_again else ""
    return f" ({', '.join(one.places)}{again})"
