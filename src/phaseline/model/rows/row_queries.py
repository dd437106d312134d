"""Queries for rows of deployments, executions and instances: conditions, order, and number of rows (rule RF5).

All conditions of a query must hold; a condition with its default value holds for every row. The store answers a query
with one statement, which reads no more rows than it returns if there is a suitable index.

A test of a row is what an expression or a rule of a filter is turned into (LB3, LB4). It has one of three results, as an
expression has: true, false, or neither if it is about something that the row does not have. A query selects the rows for
which all its tests are true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import Label
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow

TestKind: TypeAlias = Literal["is", "equals", "starts", "ends", "contains", "defined"]
"""``is`` compares with case and is false for what a row does not have; ``equals`` ignores case."""


@frozen
class RowTest:
    """A comparison of an attribute of a row, or of one of its labels if ``is_label``, with a text.

    A label can have several values; then it is true if it is true for one of them.
    """

    name: str
    kind: TestKind
    text: str = ""
    is_label: bool = False


@frozen
class AllOf:
    """All of these must be true."""

    items: tuple[RowCheck, ...]


@frozen
class AnyOf:
    """One of these must be true."""

    items: tuple[RowCheck, ...]


@frozen
class NotThat:
    """True if this is false."""

    item: RowCheck


RowCheck: TypeAlias = RowTest | AllOf | AnyOf | NotThat

_FITS: Mapping[TestKind, Callable[[str, str], bool]] = {
    "is": lambda value, text: value == text,
    "equals": lambda value, text: value.lower() == text.lower(),
    "starts": lambda value, text: value.startswith(text),
    "ends": lambda value, text: value.endswith(text),
    "contains": lambda value, text: text in value,
}


def verdict_of(check: RowCheck, values_of: Callable[[RowTest], Collection[str]]) -> bool | None:
    """Return whether a check is true for a row; None if it is neither true nor false.

    ``values_of`` returns the values that the row has for the subject of a test: none, one, or several of a label.

    >>> verdict_of(NotThat(RowTest("env", "equals", "Prod", is_label=True)), lambda _test: ["prod"])
    False
    """
    if isinstance(check, RowTest):
        values = values_of(check)
        if check.kind == "defined":
            return bool(values)
        if not values:
            return False if check.kind == "is" else None
        return any(_FITS[check.kind](value, check.text) for value in values)
    if isinstance(check, NotThat):
        found = verdict_of(check.item, values_of)
        return None if found is None else not found
    verdicts = [verdict_of(item, values_of) for item in check.items]
    decides = isinstance(check, AnyOf)
    if decides in verdicts:
        return decides
    return None if None in verdicts else not decides


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
