"""Deployment groups as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text
from phaseline.cli.render.table import clean, facts, moment, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.queries.estate.groups import GroupView

NO_GROUPS = "No deployment groups yet. Make one:\n  phaseline groups create NAME --blueprint FILE --count N"
SHOWN = 20
"""Most members that the text names; all are in the JSON document."""


def group_list(found: Sequence[GroupView]) -> str:
    """Return a table of groups; if there are none, the command that creates one."""
    if not found:
        return NO_GROUPS
    columns: Columns[GroupView] = {
        "name": lambda view: view.name,
        "members": lambda view: str(view.count),
        "blueprint": lambda view: view.blueprint,
        "labels": lambda view: ", ".join(view.labels),
        "created": lambda view: moment(view.created_at),
        "description": lambda view: view.description,
    }
    return table(columns, found)


def group_text(view: GroupView) -> str:
    """Return a text with everything about one group, and the warnings of the command that made or changed it."""
    more = f" and {view.count - SHOWN} more" if view.count > SHOWN else ""
    lines = facts(
        12,
        ("about", view.description),
        ("members", f"{view.count}{_counts(view.statuses or {})}"),
        ("blueprint", view.blueprint),
        ("inputs", ", ".join(f"{name}={value}" for name, value in view.inputs.items())),
        ("labels", ", ".join(view.labels)),
        ("created", f"{moment(view.created_at)} by {view.created_by}"),
        ("names", f"{', '.join(view.members[:SHOWN])}{more}"),
    )
    return "\n".join([clean(view.name), *map(clean, lines), *(problem_text(one) for one in view.warnings)])


def deleted_text(view: GroupView) -> str:
    """Return a line about the group that was deleted."""
    return clean(f"The deployment group '{view.name}' with {view.count} members is deleted.")


def _counts(statuses: Mapping[str, int]) -> str:
    """Return how many members have which status, in brackets.

    >>> _counts({"good": 2, "not_installed": 1}), _counts({})
    (' (2 good, 1 not_installed)', '')
    """
    told = ", ".join(f"{count} {status}" for status, count in statuses.items())
    return f" ({told})" if told else ""
