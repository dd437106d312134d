"""Questions for rows of deployments and executions: conditions, order, and how many (rule RF5).

All conditions of a query must hold; one that is left at its default holds for every row. The store answers a query with
one statement that reads no more rows than it returns wherever an index allows it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import Label
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow


@frozen
class ExecutionQuery:
    """Executions by number, oldest first, or with ``is_latest_first`` latest first.

    ``numbers``, ``deployments``: one of these numbers. ``begins``: the beginning of the id. ``statuses``: one of these.
    ``since``: stored at this time (ms) or later. ``ended_since``: ended at this time or later. ``text``: within the id or
    the reason, in any case. ``after``: the number of the last row of the page before, 0 for the first page.
    """

    numbers: Collection[int] | None = None
    deployments: Collection[int] | None = None
    begins: str = ""
    statuses: Collection[ExecutionStatus] = ()
    workflow: str = ""
    actor: str = ""
    since: int = 0
    ended_since: int = 0
    text: str = ""
    is_latest_first: bool = False
    after: int = 0
    limit: int | None = None


@frozen
class DeploymentQuery:
    """Deployments that are not deleted, by name.

    ``numbers``: one of these numbers. ``begins``: the beginning of the name. ``kind``: ``blueprint`` or ``resources``.
    ``labels``: all of these; an empty value stands for any value of its key. ``text``: within the name, the description
    or the path of the blueprint, in any case. ``after``: the name of the last row of the page before.
    """

    numbers: Collection[int] | None = None
    begins: str = ""
    kind: str = ""
    labels: Collection[Label] = ()
    text: str = ""
    after: str = ""
    limit: int | None = None


def is_execution_selected(row: ExecutionRow, wanted: ExecutionQuery) -> bool:
    """Return whether an execution fulfils the conditions; its page and the limit are not regarded."""
    return (
        (wanted.numbers is None or row.number in wanted.numbers)
        and (wanted.deployments is None or row.deployment in wanted.deployments)
        and row.id.startswith(wanted.begins)
        and (not wanted.statuses or row.status in wanted.statuses)
        and wanted.workflow in {"", row.request.workflow}
        and wanted.actor in {"", row.created_by}
        and row.created_at >= wanted.since
        and row.ended_at >= wanted.ended_since
        and wanted.text.casefold() in f"{row.id} {row.reason}".casefold()
    )


def is_deployment_selected(row: DeploymentRow, wanted: DeploymentQuery, labels: Collection[Label] = ()) -> bool:
    """Return whether a deployment with these labels fulfils the conditions; its page and the limit are not regarded."""
    return (
        (wanted.numbers is None or row.number in wanted.numbers)
        and row.name.startswith(wanted.begins)
        and wanted.kind in {"", row.kind}
        and all(any(own.key == one.key and one.value in {"", own.value} for own in labels) for one in wanted.labels)
        and wanted.text.casefold() in f"{row.name} {row.description} {row.blueprint_file}".casefold()
    )
