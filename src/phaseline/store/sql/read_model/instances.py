"""Pages of instances of all deployments: most deployments are counted by their summaries, without their topologies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import PAGE_ENTRIES
from phaseline.model.health.checks import CheckKind, Checks
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import FIRST_NAMED
from phaseline.model.rows.instance_rows import (
    LIFE_CYCLE,
    NO_STATE,
    InstancePage,
    InstanceRow,
    PageOfInstances,
    number_of_state,
    rows_of,
    selected_numbers,
)
from phaseline.model.rows.listings import NO_CHECKS, Roster
from phaseline.store.codec.columns import decode
from phaseline.store.codec.instance_ids import ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql.read_model.instance_columns import (
    UNREADABLE,
    ColumnRows,
    column_parts,
    counts_from,
    why_unreadable,
)
from phaseline.store.sql.read_model.one_statement import (
    CHOSEN,
    IS_COMPUTED,
    UNFILLED,
    Part,
    Row,
    WhereClause,
    select_together,
)

if TYPE_CHECKING:
    from phaseline.model.rows.row_queries import InstanceQuery
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows
    from phaseline.store.sql.read_model.instance_columns import InstanceColumns


NOTHING = np.zeros(0, np.uint8)
SHOWN_CHECKS = (CheckKind.STATUS, CheckKind.DRIFT)
"""Kinds of checks of which lists show the results."""
_KINDS = ", ".join(str(int(kind)) for kind in SHOWN_CHECKS)


@frozen
class _Candidate:
    """A deployment that may have selected instances. ``count`` is their number, or None if it must be counted."""

    number: int
    name: str
    count: int | None


def select_instances(db: Connection, wanted: InstanceQuery, own: TenantRows) -> InstancePage:
    """Return the page of instances that a query selects, by at most three statements."""
    candidates = _candidates(db, wanted, own)
    counted, unread = _counted(db, [one.number for one in candidates if one.count is None], wanted)
    flaws = {one.name: unread[one.number] for one in candidates if one.number in unread}
    page = PageOfInstances(wanted)
    shown = [
        one
        for one in (candidates[::-1] if wanted.is_last_first else candidates)
        if page.may_have(one.name, counted.get(one.number, 0) if one.count is None else one.count)
    ]
    rosters = read_rosters(db, [one.number for one in shown]) if shown else {}
    rows: list[InstanceRow] = []
    for one in shown:
        roster = rosters[one.number]
        if roster.flaw or roster.check_flaw:
            flaws[one.name] = roster.flaw or roster.check_flaw
        rows += rows_of(roster, one.name, page.take(one.name, selected_numbers(roster, wanted)))
    return InstancePage(rows, page.total, flaws)


def _candidates(db: Connection, wanted: InstanceQuery, own: TenantRows) -> list[_Candidate]:
    """Return the deployments that may have selected instances, by name."""
    joined, where, values = ", 0 from deployment", WhereClause("deleted_at = 0"), list[object]()
    where.add_tenant(own, "deployment.tenant")
    if wanted.node:
        having = WhereClause()
        having.add_tenant(own, "tenant")  # the index of nodes begins with it
        having.add(f"node = ? and deployment not in ({UNFILLED})", wanted.node)
        joined = f""", of_node.instances from (select deployment, instances from deployment_node{having}
            union all select number, -1 from ({UNFILLED}) as unfilled) as of_node
            join deployment on deployment.number = of_node.deployment"""
        values += having.values
    if wanted.deployment is not None:
        where.add("deployment.number = ?", wanted.deployment)
    parts = [
        Part(
            f"""select deployment.number, name, kind, coalesce(deployment_summary.instances, -1), coalesce(states, ''),
            case when {IS_COMPUTED} then 1 else 0 end{joined}
            left join deployment_summary on deployment_summary.deployment = deployment.number{where}""",
            "ittitii",
            [*values, *where.values],
        )
    ]
    if wanted.state and wanted.state not in LIFE_CYCLE:
        parts.append(Part("select deployment, place from state_name where name = ?", "ii", (wanted.state,)))
    rows, *named = select_together(db, parts)
    own.remember("deployment", (row[0] for row in rows))
    places: dict[int, int] = dict(named[0]) if named else {}
    found = [_Candidate(row[0], row[1], _count(row, places, wanted)) for row in rows]
    return sorted(found, key=lambda one: one.name)


def _count(row: Row, places: Mapping[int, int], wanted: InstanceQuery) -> int | None:
    """Return the number of a deployment's selected instances, or None if its rows of the read model do not have it.

    ``places``: the place of the state's name in the lists of deployments, if it is no state of the life cycle.
    """
    deployment, _, kind, instances, states, is_computed, of_node = row
    if not wanted.state and kind != "resources":
        known = of_node if wanted.node else instances
        return known if known >= 0 else None
    counts = None if is_computed else counts_from(states)
    if counts is None:
        return None
    total = sum(counts.values())
    if wanted.state:
        number = LIFE_CYCLE.get(wanted.state)
        if number is None:
            number = FIRST_NAMED + places[deployment] if deployment in places else NO_STATE
        in_state = counts.get(number, 0)
    else:
        in_state = total
    if not wanted.node or not in_state:
        return in_state
    return of_node if in_state == total and kind != "resources" else None


def _counted(
    db: Connection, deployments: Sequence[int], wanted: InstanceQuery
) -> tuple[Mapping[int, int], Mapping[int, str]]:
    """Count selected instances by the columns of all instances.

    Return ({deployment: number of its selected instances}, {deployment: why its instances cannot be read}).
    """
    if not deployments:
        return {}, {}
    which = to_text(deployments)
    parts = [
        Part(f"select deployment, nodes, node from topology where deployment {CHOSEN}", "itb", (which,)),
        *column_parts(f"deployment.number {CHOSEN}", (which,)),
    ]
    told, *columns = select_together(db, parts)
    topologies, states = {row[0]: row[1:] for row in told}, ColumnRows(*columns)
    found: dict[int, int] = {}
    unread: dict[int, str] = {}
    for number in deployments:
        try:
            held = states.of(number)
            nodes, node = topologies[number]
            found[number] = _number_selected(nodes, node, held, wanted)
        except UNREADABLE as error:
            unread[number] = why_unreadable(error)
    return found, unread


def _number_selected(nodes: str, node: bytes, held: InstanceColumns, wanted: InstanceQuery) -> int:
    told = json.loads(nodes)
    chosen = held.states != REMOVED
    chosen[told.get("gone", [])] = False
    if wanted.node:
        numbers = [number for number, name in enumerate(told["names"]) if name == wanted.node]
        chosen &= np.isin(decode(node), numbers)
    if wanted.state:
        chosen &= held.states == number_of_state(wanted.state, held.names)
    return int(chosen.sum())


# -- all instances of some deployments


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
