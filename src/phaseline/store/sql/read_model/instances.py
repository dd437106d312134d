"""Pages of instances of all deployments: most deployments are counted by their summaries, without their topologies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
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
from phaseline.store.codec.columns import decode
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.connection import Connection
from phaseline.store.sql.read_model.conditions import CHOSEN
from phaseline.store.sql.read_model.instance_columns import UNREADABLE, ColumnRows, column_parts, why_unreadable
from phaseline.store.sql.read_model.nodes import TENANT
from phaseline.store.sql.read_model.one_statement import Part, Row, select_together
from phaseline.store.sql.read_model.rosters import read_rosters
from phaseline.store.sql.read_model.summaries import IS_COMPUTED, counts_from

if TYPE_CHECKING:
    from phaseline.model.rows.row_queries import InstanceQuery
    from phaseline.store.sql.read_model.instance_columns import InstanceColumns


@frozen
class _Candidate:
    """A deployment that may have selected instances. ``count`` is their number, or None if it must be counted."""

    number: int
    name: str
    count: int | None


def select_instances(db: Connection, wanted: InstanceQuery) -> InstancePage:
    """Return the page of instances that a query selects, by at most three statements."""
    candidates = _candidates(db, wanted)
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


def _candidates(db: Connection, wanted: InstanceQuery) -> list[_Candidate]:
    """Return the deployments that may have selected instances, by name."""
    joined, values = ", 0 from deployment", list[object]()
    if wanted.node:
        joined = """, deployment_node.instances from deployment_node
            join deployment on deployment.number = deployment_node.deployment"""
    where = ["deleted_at = 0"]
    if wanted.node:
        where.append("deployment_node.tenant = ? and deployment_node.node = ?")
        values += [TENANT, wanted.node]
    if wanted.deployment is not None:
        where.append("deployment.number = ?")
        values.append(wanted.deployment)
    parts = [
        Part(
            f"""select deployment.number, name, kind, coalesce(deployment_summary.instances, -1), coalesce(states, ''),
            case when {IS_COMPUTED} then 1 else 0 end{joined}
            left join deployment_summary on deployment_summary.deployment = deployment.number
            where {" and ".join(where)}""",
            "ittitii",
            values,
        )
    ]
    if wanted.state and wanted.state not in LIFE_CYCLE:
        parts.append(Part("select deployment, place from state_name where name = ?", "ii", (wanted.state,)))
    rows, *named = select_together(db, parts)
    places: dict[int, int] = dict(named[0]) if named else {}
    found = [_Candidate(row[0], row[1], _count(row, places, wanted)) for row in rows]
    return sorted(found, key=lambda one: one.name)


def _count(row: Row, places: Mapping[int, int], wanted: InstanceQuery) -> int | None:
    """Return the number of a deployment's selected instances, or None if its rows of the read model do not tell it.

    ``places``: the place of the state's name in the lists of deployments, if it is no state of the life cycle.
    """
    deployment, _, kind, instances, states, is_computed, of_node = row
    if not wanted.state and kind != "resources":
        return of_node if wanted.node else instances if instances >= 0 else None
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
