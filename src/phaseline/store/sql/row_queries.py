"""Queries for rows of deployments and executions, as statements."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import queries as reads

if TYPE_CHECKING:
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow

LAST = "\U0010ffff"
"""The last character: no text that begins with another text comes after that text and this character."""
AMONG = "in (select value from json_each(?))"
_HAVING = """number in (select deployment from label join json_each(?) wanted
    on label.key = json_extract(wanted.value, '$[0]') and json_extract(wanted.value, '$[1]') in ('', label.value)
    group by deployment having count(distinct wanted.key) = ?)"""


class Conditions:
    """The conditions of a statement, with their values."""

    def __init__(self, *always: str) -> None:
        """``always``: conditions without values."""
        self._texts = list(always)
        self.values: list[object] = []

    def add(self, text: str, *values: object) -> None:
        """Require one more condition."""
        self._texts.append(text)
        self.values.extend(values)

    def add_beginning(self, column: str, text: str) -> None:
        """Require that a column begins with the text; the second bound lets an index end the search."""
        self.add(
            f"{column} >= ? and {column} < ? || '{LAST}' and substr({column}, 1, ?) = ?", text, text, len(text), text
        )

    def __str__(self) -> str:
        """The ``where`` of the statement, empty without a condition."""
        return f" where {' and '.join(self._texts)}" if self._texts else ""


def executions(db: sqlite3.Connection, wanted: ExecutionQuery) -> list[ExecutionRow]:
    """The rows that the query selects."""
    where = _of_executions(db, wanted)
    if wanted.after:
        where.add(f"execution.number {'<' if wanted.is_latest_first else '>'} ?", wanted.after)
    order = "execution.number desc" if wanted.is_latest_first else "execution.number"
    rows = db.execute(f"{reads.EXECUTION}{where} order by {order} limit ?", (*where.values, _limit(wanted.limit)))
    return [reads.execution(row) for row in rows]


def deployments(db: sqlite3.Connection, wanted: DeploymentQuery) -> list[DeploymentRow]:
    """The rows that the query selects."""
    where = _of_deployments(db, wanted)
    if wanted.after:
        where.add("name > ?", wanted.after)
    return reads.deployment_rows(db, f"{where} order by name limit ?", (*where.values, _limit(wanted.limit)))


def count(db: sqlite3.Connection, wanted: DeploymentQuery | ExecutionQuery) -> int:
    """The number of rows that fulfil the conditions."""
    if isinstance(wanted, DeploymentQuery):
        table, where = "deployment", _of_deployments(db, wanted)
    else:
        table, where = "execution", _of_executions(db, wanted)
    return int(db.execute(f"select count(*) from {table}{where}", where.values).fetchone()[0])


def _limit(limit: int | None) -> int:
    """SQLite takes a negative limit for none."""
    return -1 if limit is None else limit


def _of_executions(db: sqlite3.Connection, wanted: ExecutionQuery) -> Conditions:
    where = Conditions()
    if wanted.numbers is not None:
        where.add(f"execution.number {AMONG}", to_text(sorted(wanted.numbers)))
    if wanted.deployments is not None:
        where.add(f"deployment {AMONG}", to_text(sorted(wanted.deployments)))
    if wanted.begins:
        where.add_beginning("id", wanted.begins)
    if wanted.statuses:
        where.add(f"status {AMONG}", to_text(sorted(status.value for status in wanted.statuses)))
    if wanted.workflow:
        where.add("id = ? || '-' || execution.number", wanted.workflow)
    if wanted.actor:
        where.add("execution.created_by = ?", wanted.actor)
    if wanted.since:
        where.add("execution.created_at >= ?", wanted.since)
    if wanted.ended_since:
        where.add("ended_at >= ?", wanted.ended_since)
    if wanted.text:
        where.add("instr(casefold(id || ' ' || reason), ?)", _searched(db, wanted.text))
    return where


def _of_deployments(db: sqlite3.Connection, wanted: DeploymentQuery) -> Conditions:
    where = Conditions("deleted_at = 0")
    if wanted.numbers is not None:
        where.add(f"number {AMONG}", to_text(sorted(wanted.numbers)))
    if wanted.begins:
        where.add_beginning("name", wanted.begins)
    if wanted.kind:
        where.add("kind = ?", wanted.kind)
    if wanted.labels:
        labels = list(dict.fromkeys(wanted.labels))
        where.add(_HAVING, to_text([list(label) for label in labels]), len(labels))
    if wanted.text:
        where.add("instr(casefold(name || ' ' || description || ' ' || blueprint_file), ?)", _searched(db, wanted.text))
    return where


def _searched(db: sqlite3.Connection, text: str) -> str:
    """The text for a search in any case: SQLite itself knows cases of ASCII only, so that it is given a function."""
    db.create_function("casefold", 1, str.casefold, deterministic=True)
    return text.casefold()
