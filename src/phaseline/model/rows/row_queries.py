"""Queries for rows of deployments, executions and instances: conditions, order, and number of rows (rule RF5).

All conditions of a query must hold; a condition with its default value holds for every row. The store answers a query
with one statement, which reads no more rows than it returns if there is a suitable index.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import Label
    from phaseline.model.rows.row_tests import RowCheck
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow


@frozen
class ExecutionQuery:
    """A query for executions, oldest first, or latest first if ``is_latest_first``.

    ``numbers``, ``deployments`` and ``statuses`` list allowed values. ``begins`` is the beginning of the id. ``since``:
    stored at this time (ms) or later. ``ended_since``: ended at this time or later. ``text`` is contained in the id or
    the reason, in any case. All ``checks`` must be true for a row, and all ``deployment_checks`` for its deployment.
    ``after`` is the number of the last row on the previous page, 0 for the first page.
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
    checks: Collection[RowCheck] = ()
    deployment_checks: Collection[RowCheck] = ()
    is_latest_first: bool = False
    after: int = 0
    limit: int | None = None


@frozen
class DeploymentQuery:
    """A query for deployments that are not deleted, by name.

    ``numbers`` lists allowed numbers. ``begins`` is the beginning of the name. ``kind`` is ``blueprint`` or
    ``resources``. ``status`` is that of the deployment's summary. A row must have all ``labels``; an empty value means
    any value of the key. ``text`` is contained in the name, the description or the path of the blueprint, in any case.
    ``has_states``: only deployments some instance of which was on a path of states. All ``checks`` must be true. ``after`` is the name of the last
    row on the previous page.
    """

    numbers: Collection[int] | None = None
    begins: str = ""
    kind: str = ""
    status: str = ""
    has_states: bool = False
    labels: Collection[Label] = ()
    checks: Collection[RowCheck] = ()
    text: str = ""
    after: str = ""
    limit: int | None = None


@frozen
class InstanceQuery:
    """A query for instances that were not removed, by name of the deployment and number; last first if ``is_last_first``.

    ``deployment`` is the number of the only deployment (None: all). ``node`` and ``state`` are the names of the node and
    the state. ``after`` is (name of the deployment, number) of the last row on the previous page.
    """

    deployment: int | None = None
    node: str = ""
    state: str = ""
    is_last_first: bool = False
    after: tuple[str, int] | None = None
    limit: int | None = None


def is_execution_selected(row: ExecutionRow, wanted: ExecutionQuery) -> bool:
    """Return whether an execution fulfils the conditions, except checks; page and limit are ignored."""
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
    """Return whether a deployment with these labels fulfils the conditions, except ``status``, ``checks`` and ``has_states``.

    Page and limit are ignored.
    """
    return (
        (wanted.numbers is None or row.number in wanted.numbers)
        and row.name.startswith(wanted.begins)
        and wanted.kind in {"", row.kind}
        and all(any(own.key == one.key and one.value in {"", own.value} for own in labels) for one in wanted.labels)
        and wanted.text.casefold() in f"{row.name} {row.description} {row.blueprint_file}".casefold()
    )
