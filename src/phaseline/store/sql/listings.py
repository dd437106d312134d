"""Rows of lists of deployments, read for many deployments at once: always the same small number of statements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.model.rows.rows import ExecutionRow
from phaseline.store.codec.columns import decode, states_from
from phaseline.store.codec.instance_ids import ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, UNINDEXED, TenantRows
from phaseline.store.sql import labels
from phaseline.store.sql import queries as reads

if TYPE_CHECKING:
    from phaseline.model.rows.listings import Glance, Roster
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.store.database.connection import Connect, Connection

T = TypeVar("T")
NOTHING = np.zeros(0, np.uint8)
_CHOSEN = "in (select value from json_each(?))"
LAST = "\U0010ffff"
"""Largest character. For any beginning B, all texts that begin with B sort before B + LAST."""
_LIVING = "deployment in (select number from deployment where {})"
_TOLD = """case when instr(nodes, '"gone":[') > 0 or instr(nodes, '"targets":[') > 0 then nodes else '{}' end"""
"""SQL column with a topology's JSON text if it has a ``gone`` or ``targets`` list, which most texts have not."""


class SqliteListings:
    """Lists for users in a SQLite file: the methods of the port ``Listings``."""

    def __init__(self, reading: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` begins a transaction that reads."""
        self._reading = reading
        self._rows = rows

    def deployments(self, wanted: DeploymentQuery) -> Sequence[DeploymentRow]:
        """Return the deployments that a query selects."""
        with self._reading() as db:
            return select_deployments(db, wanted, self._rows)

    def executions(self, wanted: ExecutionQuery) -> Sequence[ExecutionRow]:
        """Return the executions that a query selects."""
        with self._reading() as db:
            return select_executions(db, wanted, self._rows)

    def count(self, wanted: DeploymentQuery | ExecutionQuery) -> int:
        """Return the number of rows that fulfil the conditions of a query, regardless of its page and limit."""
        with self._reading() as db:
            return count_rows(db, wanted, self._rows)

    def glances(self, deployments: Sequence[int]) -> Mapping[int, Glance]:
        """Return {deployment number: its summary for lists}."""
        with self._reading() as db:
            which = to_text(self._rows.own_all(db, "deployment", deployments))
            states, names = _states(db, which), _state_names(db, which)
            executions = _by_deployment(_unsettled(db, self._rows, f"deployment {_CHOSEN}", which))
            rows = db.execute(f"select deployment, {_TOLD} from topology where deployment {_CHOSEN}", (which,))
            told: dict[int, str] = dict(rows.fetchall())

            def read(number: int) -> Glance:
                found = _found(states, number)()
                return _glance(db, number, found, names.get(number, ()), _found(told, number), executions)

            def flawed(number: int, flaw: str) -> Glance:
                return _no_glance(executions.get(number, ()), flaw)

            return {number: _unless_flawed(number, read, flawed) for number in deployments}

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """Return {deployment number: its instances}."""
        with self._reading() as db:
            which = to_text(self._rows.own_all(db, "deployment", deployments))
            states, names = _states(db, which), _state_names(db, which)
            rows = {
                number: row
                for number, *row in db.execute(
                    f"select deployment, version, nodes, ids, node, ordinal, container, host from topology where deployment {_CHOSEN}",
                    (which,),
                )
            }
            checked = {
                row[0] for row in db.execute(f"select deployment from check_page where deployment {_CHOSEN}", (which,))
            }

            def read(number: int) -> Roster:
                found = _found(states, number)()
                return _roster(_found(rows, number), found, names.get(number, ()), is_checked=number in checked)

            return {number: _unless_flawed(number, read, _no_roster) for number in deployments}

    def unsettled(self, deployment: int | None = None) -> Sequence[ExecutionRow]:
        """Return the executions that did not complete, and the latest execution of each deployment."""
        with self._reading() as db:
            if deployment is None:
                where, values = self._rows.where("deleted_at = 0")
                return _unsettled(db, self._rows, _LIVING.format(where), *values)
            own = self._rows.own(db, "deployment", deployment)
            return _unsettled(db, self._rows, f"deployment = ? and {_LIVING.format('deleted_at = 0')}", own)


def _unless_flawed(number: int, read: Callable[[int], T], otherwise: Callable[[int, str], T]) -> T:
    """Return ``read(number)``, or ``otherwise(number, reason)`` if the deployment's data cannot be read.

    So one damaged deployment does not prevent a list of the others.
    """
    try:
        return read(number)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return otherwise(number, str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}")


def _found(rows: Mapping[int, T], number: int) -> T:
    """Return the row of a deployment. Raises: ValueError if the row is missing."""
    found = rows.get(number)
    if found is None:
        raise ValueError("a row of it is missing")
    return found


def _no_glance(executions: Sequence[ExecutionRow], flaw: str) -> Glance:
    from phaseline.model.rows.listings import Glance

    return Glance(NOTHING, NOTHING, (), executions, flaw)


def _no_roster(_number: int, flaw: str) -> Roster:
    from phaseline.model.rows.listings import Roster

    return Roster(
        (), (), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING.astype(bool), NOTHING, (), 0, is_checked=False, flaw=flaw
    )


def _unsettled(db: Connection, own: TenantRows, condition: str, *values: object) -> list[ExecutionRow]:
    """Return the executions that did not complete, and the latest execution of each deployment.

    ``condition`` selects the deployments by number.
    """
    latest = f"select max(number) from execution where {condition} group by deployment"
    return reads.execution_rows(
        db,
        own,
        f""" where {condition} and (status <> 'completed' or execution.number in ({latest}))
        order by execution.number""",
        (*values, *values),
    )


def _by_deployment(rows: Iterable[ExecutionRow]) -> dict[int, list[ExecutionRow]]:
    found: dict[int, list[ExecutionRow]] = {}
    for row in rows:
        found.setdefault(row.deployment, []).append(row)
    return found


def _states(db: Connection, which: str) -> dict[int, Callable[[], np.ndarray]]:
    """Return {deployment: function that decodes the states of its instances, or raises if they are damaged}.

    ``which``: a JSON list of the numbers of the deployments.
    """
    pages: dict[int, list[tuple[int, bytes]]] = {}
    for deployment, number, held in db.execute(
        f"select deployment, number, states from state_page where deployment {_CHOSEN}", (which,)
    ):
        pages.setdefault(deployment, []).append((number, held))
    counts = db.execute(f"select number, instance_count from deployment where number {_CHOSEN}", (which,))
    return {number: partial(states_from, count, pages.get(number, ())) for number, count in counts}


def _state_names(db: Connection, which: str) -> dict[int, tuple[str, ...]]:
    """Return {deployment: names of its resource states}, without deployments that have none."""
    found: dict[int, tuple[str, ...]] = {}
    for deployment, name in db.execute(
        f"select deployment, name from state_name where deployment {_CHOSEN} order by deployment, place", (which,)
    ):
        found[deployment] = (*found.get(deployment, ()), name)
    return found


def _glance(
    db: Connection,
    number: int,
    states: np.ndarray,
    names: tuple[str, ...],
    nodes: str,
    executions: Mapping[int, Sequence[ExecutionRow]],
) -> Glance:
    from phaseline.model.rows.listings import Glance  # most commands show no list

    told = json.loads(nodes)
    life_cycle = _life_cycle(db, number, states, names, told.get("targets")) if names else states
    if "gone" in told:
        there = np.ones(len(states), bool)
        there[told["gone"]] = False
        states, life_cycle = states[there], life_cycle[there]
    return Glance(states, life_cycle, names, executions.get(number, ()))


def _life_cycle(
    db: Connection, number: int, states: np.ndarray, names: tuple[str, ...], targets: list[Any] | None
) -> np.ndarray:
    """Return the states of instances, with the states of resources converted to states of node instances.

    ``targets``: the target state of each node as JSON. If an old version stored none, read the whole topology.
    """
    from phaseline.model.resources.path_nodes import arrived, as_life_cycle

    if targets is None:
        return as_life_cycle(reads.topology(db, number), states, names)
    (node,) = db.execute("select node from topology where deployment = ?", (number,)).fetchone()
    return arrived(targets, decode(node), states, names)


def _roster(row: Sequence[Any], states: np.ndarray, names: tuple[str, ...], *, is_checked: bool) -> Roster:
    from phaseline.model.rows.listings import Roster

    version, nodes, text, *columns = row
    told = json.loads(nodes)
    ids = ids_from(text)
    node, index, container, host = map(decode, columns)
    if not len(ids) == len(node) == len(index) == len(container) == len(host) == len(states):
        raise ValueError(f"it has {len(ids)} ids of {len(node)} instances")
    is_there = np.ones(len(ids), bool)
    is_there[told.get("gone", [])] = False
    return Roster(told["names"], ids, node, index, container, host, is_there, states, names, version, is_checked)


class WhereClause:
    """The conditions of a statement, with their values."""

    def __init__(self, *always: str) -> None:
        """``always``: conditions without values, which the statement has in any case."""
        self._texts = list(always)
        self.values: list[object] = []

    def add(self, text: str, *values: object) -> None:
        """Add one condition, which must hold too."""
        self._texts.append(text)
        self.values.extend(values)

    def add_beginning(self, column: str, text: str) -> None:
        """Require that a column begins with the text. Two bounds express this, so that SQLite can search an index."""
        self.add(
            f"{column} >= ? and {column} < cast(? as text) || '{LAST}' and substr({column}, 1, ?) = ?",
            text,
            text,
            len(text),
            text,
        )

    def add_tenant(self, own: TenantRows, column: str) -> None:
        """Require that rows are the tenant's, which the column has."""
        if own.tenant is not None:
            self.add(f"{column} = ?", own.tenant)

    def __str__(self) -> str:
        """Return the ``where`` clause of the statement; empty if there is no condition."""
        return f" where {' and '.join(self._texts)}" if self._texts else ""


def select_executions(db: Connection, wanted: ExecutionQuery, own: TenantRows = ALL) -> list[ExecutionRow]:
    """Return the executions that the query selects."""
    where = _of_executions(wanted, own)
    if wanted.after:
        where.add(f"execution.number {'<' if wanted.is_latest_first else '>'} ?", wanted.after)
    order = "execution.number desc" if wanted.is_latest_first else "execution.number"
    return reads.execution_rows(db, own, f"{where} order by {order}{_limit(wanted.limit)}", where.values)


def select_deployments(db: Connection, wanted: DeploymentQuery, own: TenantRows = ALL) -> list[DeploymentRow]:
    """Return the deployments that the query selects."""
    where = _of_deployments(wanted, own)
    if wanted.after:
        where.add("name > ?", wanted.after)
    return reads.deployment_rows(db, own, f"{where} order by name{_limit(wanted.limit)}", where.values)


def count_rows(db: Connection, wanted: DeploymentQuery | ExecutionQuery, own: TenantRows = ALL) -> int:
    """Return the number of rows that fulfil the conditions of a query, regardless of its page and limit."""
    if isinstance(wanted, DeploymentQuery):
        table, where = "deployment", _of_deployments(wanted, own)
    else:
        table, where = "execution", _of_executions(wanted, own)
    return int(db.execute(f"select count(*) from {table}{where}", where.values).fetchone()[0])


def _limit(limit: int | None) -> str:
    """Return the last clause of a statement, which is empty without a limit."""
    return "" if limit is None else f" limit {int(limit)}"


def _of_executions(wanted: ExecutionQuery, own: TenantRows) -> WhereClause:
    where = WhereClause()
    is_searched = wanted.numbers is not None or wanted.deployments is not None or bool(wanted.begins)
    where.add_tenant(own, own.execution_column(is_searched=is_searched))
    if wanted.numbers is not None:
        where.add(f"execution.number {_CHOSEN}", to_text(sorted(wanted.numbers)))
    if wanted.deployments is not None:
        where.add(f"deployment {_CHOSEN}", to_text(sorted(wanted.deployments)))
    if wanted.begins:
        where.add_beginning("id", wanted.begins)
    if wanted.statuses:
        where.add(f"status {_CHOSEN}", to_text(sorted(status.value for status in wanted.statuses)))
    if wanted.workflow:
        where.add("id = cast(? as text) || '-' || execution.number", wanted.workflow)
    if wanted.actor:
        where.add("execution.created_by = ?", wanted.actor)
    if wanted.since:
        where.add("execution.created_at >= ?", wanted.since)
    if wanted.ended_since:
        where.add("ended_at >= ?", wanted.ended_since)
    if wanted.text:
        where.add("instr(folded_text(id || ' ' || reason), ?) > 0", wanted.text.casefold())
    return where


def _of_deployments(wanted: DeploymentQuery, own: TenantRows) -> WhereClause:
    where = WhereClause("deleted_at = 0")
    is_searched = wanted.numbers is not None or bool(wanted.labels)
    where.add_tenant(own, UNINDEXED.format("tenant") if is_searched else "tenant")
    if wanted.numbers is not None:
        where.add(f"number {_CHOSEN}", to_text(sorted(wanted.numbers)))
    if wanted.begins:
        where.add_beginning("name", wanted.begins)
    if wanted.kind:
        where.add("kind = ?", wanted.kind)
    if wanted.labels:
        for text, values in labels.having(wanted.labels):
            where.add(text, *values)
    if wanted.text:
        where.add(
            "instr(folded_text(name || ' ' || description || ' ' || blueprint_file), ?) > 0", wanted.text.casefold()
        )
    return where
