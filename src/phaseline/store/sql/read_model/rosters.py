"""Instances of many deployments as lists show them, from the columns of their topologies, by one statement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.model.graph.status import PAGE_ENTRIES
from phaseline.model.health.checks import CheckKind, Checks
from phaseline.model.rows.listings import NO_CHECKS, Roster
from phaseline.store.codec.columns import decode
from phaseline.store.codec.instance_ids import ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.connection import Connection
from phaseline.store.sql.read_model.conditions import CHOSEN
from phaseline.store.sql.read_model.instance_columns import UNREADABLE, ColumnRows, column_parts, why_unreadable
from phaseline.store.sql.read_model.one_statement import Part, Row, select_together

if TYPE_CHECKING:
    from phaseline.store.sql.read_model.instance_columns import InstanceColumns

NOTHING = np.zeros(0, np.uint8)
SHOWN_CHECKS = (CheckKind.STATUS, CheckKind.DRIFT)
"""Kinds of checks of which lists show the results."""
_KINDS = ", ".join(str(int(kind)) for kind in SHOWN_CHECKS)


def read_rosters(db: Connection, deployments: Sequence[int]) -> dict[int, Roster]:
    """Return {deployment: its instances}."""
    which = to_text(deployments)
    parts = [
        Part(
            f"""select deployment, version, nodes, ids, node, ordinal, container, host from topology
            where deployment {CHOSEN}""",
            "iitbbbbb",
            (which,),
        ),
        Part(
            f"""select deployment, kind, number, results from check_page
            where deployment {CHOSEN} and kind in ({_KINDS})""",
            "iiib",
            (which,),
        ),
        *column_parts(f"deployment.number {CHOSEN}", (which,)),
    ]
    told, checked, *columns = select_together(db, parts)
    rows = {number: row for number, *row in told}
    states, checks = ColumnRows(*columns), _checks(checked)
    return {number: _roster(number, rows, states, checks.get(number, ())) for number in deployments}


def _roster(number: int, rows: Mapping[int, Sequence[Any]], states: ColumnRows, checks: Sequence[Row]) -> Roster:
    """Return the instances of a deployment, or none with the reason, so that one damaged deployment hides no other."""
    try:
        if number not in rows:
            raise ValueError("a row of it is missing")
        return _read(rows[number], states.of(number), checks)
    except UNREADABLE as error:
        nothing = (NOTHING,) * 4
        return Roster((), (), *nothing, NOTHING.astype(bool), NOTHING, (), 0, why_unreadable(error))


def _read(row: Sequence[Any], held: InstanceColumns, checks: Sequence[Row]) -> Roster:
    version, nodes, text, *columns = row
    told = json.loads(nodes)
    ids, states = ids_from(text), held.states
    node, index, container, host = map(decode, columns)
    if not len(ids) == len(node) == len(index) == len(container) == len(host) == len(states):
        raise ValueError(f"it has {len(ids)} ids of {len(node)} instances")
    is_there = np.ones(len(ids), bool)
    is_there[told.get("gone", [])] = False
    found, flaw = NO_CHECKS, ""
    try:
        found = Checks(dict(_results(checks)))
    except UNREADABLE as error:
        flaw = why_unreadable(error)
    return Roster(
        told["names"],
        ids,
        node,
        index,
        container,
        host,
        is_there,
        states,
        held.names,
        version,
        checks=found,
        check_flaw=flaw,
    )


def _checks(rows: Sequence[Row]) -> Mapping[int, Sequence[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return found


def _results(pages: Sequence[Row]) -> Iterator[tuple[CheckKind, np.ndarray]]:
    """Yield (kind, results by instance) from (kind, number of the page, results)."""
    for kind in {page[0] for page in pages}:
        mine = [page[1:] for page in pages if page[0] == kind]
        column = np.zeros((max(number for number, _ in mine) + 1) * PAGE_ENTRIES, np.uint8)
        for number, results in mine:
            column[number * PAGE_ENTRIES : (number + 1) * PAGE_ENTRIES] = np.frombuffer(results, np.uint8)
        yield CheckKind(kind), column
