"""Rows for lists, read from columns of many deployments at once: the number of statements does not grow with them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from phaseline.model.rows.rows import ExecutionRow
from phaseline.store.codec.columns import decode, states_from
from phaseline.store.codec.instance_ids import ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import queries as reads
from phaseline.store.sql import row_queries

if TYPE_CHECKING:
    from phaseline.model.rows.listings import Glance, Roster
    from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
    from phaseline.model.rows.rows import DeploymentRow

T = TypeVar("T")
NOTHING = np.zeros(0, np.uint8)
Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]

_CHOSEN = "in (select value from json_each(?))"
_LIVING = "deployment in (select number from deployment where deleted_at = 0)"
_TOLD = """case when instr(nodes, '"gone":[') then
        case when json_valid(nodes) then json_extract(nodes, '$.gone') else '' end end,
    case when instr(nodes, '"targets":[') then
        case when json_valid(nodes) then json_extract(nodes, '$.targets') else '' end end"""
"""Most topologies have neither: then nothing of their JSON is parsed."""


class SqliteListings:
    """``Listings`` of a file."""

    def __init__(self, reading: Connect) -> None:
        """Transactions that read."""
        self._reading = reading

    def deployments(self, wanted: DeploymentQuery) -> Sequence[DeploymentRow]:
        """The rows that a query selects."""
        with self._reading() as db:
            return row_queries.deployments(db, wanted)

    def executions(self, wanted: ExecutionQuery) -> Sequence[ExecutionRow]:
        """The rows that a query selects."""
        with self._reading() as db:
            return row_queries.executions(db, wanted)

    def count(self, wanted: DeploymentQuery | ExecutionQuery) -> int:
        """The number of rows that fulfil the conditions."""
        with self._reading() as db:
            return row_queries.count(db, wanted)

    def glances(self, deployments: Sequence[int]) -> Mapping[int, Glance]:
        """{deployment: its summary}."""
        which = to_text(deployments)
        with self._reading() as db:
            states, names = _states(db, which), _state_names(db, which)
            executions = _by_deployment(_unsettled(db, f"deployment {_CHOSEN}", which))
            rows = db.execute(f"select deployment, {_TOLD} from topology where deployment {_CHOSEN}", (which,))
            told = {number: (gone, targets) for number, gone, targets in rows.fetchall()}

            def read(number: int) -> Glance:
                found = _found(states, number)()
                return _glance(db, number, found, names.get(number, ()), *_found(told, number), executions)

            def flawed(number: int, flaw: str) -> Glance:
                return _no_glance(executions.get(number, ()), flaw)

            return {number: _unless_flawed(number, read, flawed) for number in deployments}

    def rosters(self, deployments: Sequence[int]) -> Mapping[int, Roster]:
        """{deployment: its instances}."""
        which = to_text(deployments)
        with self._reading() as db:
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
        """Executions that did not complete, and the latest of each deployment."""
        with self._reading() as db:
            if deployment is None:
                return _unsettled(db, _LIVING)
            return _unsettled(db, f"deployment = ? and {_LIVING}", deployment)


def _unless_flawed(number: int, read: Callable[[int], T], otherwise: Callable[[int, str], T]) -> T:
    """What is read of one deployment; of one that cannot be read, what is made of the reason: it hides none of the others."""
    try:
        return read(number)
    except (ValueError, LookupError, TypeError, AttributeError, sqlite3.DataError) as error:
        return otherwise(number, str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}")


def _found(rows: Mapping[int, T], number: int) -> T:
    """The row of a deployment. Raises: ValueError if it is missing."""
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


def _unsettled(db: sqlite3.Connection, condition: str, *values: object) -> list[ExecutionRow]:
    """Executions that did not complete, and the latest of each deployment; ``condition`` selects deployments by number."""
    latest = f"select max(number) from execution where {condition} group by deployment"
    rows = db.execute(
        f"""{reads.EXECUTION} where {condition} and (status <> 'completed' or execution.number in ({latest}))
        order by execution.number""",
        (*values, *values),
    )
    return [reads.execution(row) for row in rows]


def _by_deployment(rows: Iterable[ExecutionRow]) -> dict[int, list[ExecutionRow]]:
    found: dict[int, list[ExecutionRow]] = {}
    for row in rows:
        found.setdefault(row.deployment, []).append(row)
    return found


def _states(db: sqlite3.Connection, which: str) -> dict[int, Callable[[], np.ndarray]]:
    """{deployment: what gives the states of its instances, uint8 by number, or raises why they cannot be read}."""
    pages: dict[int, list[tuple[int, bytes]]] = {}
    for deployment, number, held in db.execute(
        f"select deployment, number, states from state_page where deployment {_CHOSEN}", (which,)
    ):
        pages.setdefault(deployment, []).append((number, held))
    counts = db.execute(f"select number, instance_count from deployment where number {_CHOSEN}", (which,))
    return {number: partial(states_from, count, pages.get(number, ())) for number, count in counts}


def _state_names(db: sqlite3.Connection, which: str) -> dict[int, tuple[str, ...]]:
    """{deployment: names of states of resources}, without deployments that have none."""
    found: dict[int, tuple[str, ...]] = {}
    for deployment, name in db.execute(
        f"select deployment, name from state_name where deployment {_CHOSEN} order by deployment, place", (which,)
    ):
        found[deployment] = (*found.get(deployment, ()), name)
    return found


def _glance(
    db: sqlite3.Connection,
    number: int,
    states: np.ndarray,
    names: tuple[str, ...],
    gone: str | None,
    targets: str | None,
    executions: Mapping[int, Sequence[ExecutionRow]],
) -> Glance:
    from phaseline.model.rows.listings import Glance  # most commands show no list

    life_cycle = _life_cycle(db, number, states, names, targets) if names else states
    if gone is not None:
        there = np.ones(len(states), bool)
        there[json.loads(gone)] = False
        states, life_cycle = states[there], life_cycle[there]
    return Glance(states, life_cycle, names, executions.get(number, ()))


def _life_cycle(
    db: sqlite3.Connection, number: int, states: np.ndarray, names: tuple[str, ...], targets: str | None
) -> np.ndarray:
    """For a topology stored before targets were stored, read the blueprint."""
    from phaseline.model.resources.path_nodes import arrived, as_life_cycle

    if targets is None:
        return as_life_cycle(reads.topology(db, number), states, names)
    (node,) = db.execute("select node from topology where deployment = ?", (number,)).fetchone()
    return arrived(json.loads(targets), decode(node), states, names)


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
