"""The table ``deployment_node``: which deployments have a node of a name, so that an instance's id leads to them.

The id of an instance of a blueprint begins with the name of its node and ``_``. Resources have names of any form, so a
deployment with other ids has a row with an empty name, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.rows.rows import Actor
from phaseline.store.codec.columns import decode
from phaseline.store.codec.instance_ids import SEPARATOR, ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.connection import Connection
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.conditions import CHOSEN, WhereClause
from phaseline.store.sql.read_model.instance_columns import UNREADABLE

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import DeploymentRow

TENANT = Actor("").tenant
"""The only tenant that exists so far."""
OTHERS = ""
"""Name in the row of a deployment with ids that do not begin with the name of a node."""
FEW_NODES = 16
"""Largest number of nodes for which their names are searched in the text of all ids, each once."""
_PUT = "insert into deployment_node (tenant, node, deployment, instances) values (?, ?, ?, ?)"
_MARK = SEPARATOR.encode()


def put(db: Connection, deployment: int, tenant: str, topology: Topology, ids: bytes) -> None:
    """Store the nodes of a deployment. ``ids``: the ids of its instances as they are stored."""
    names = [node.name for node in topology.nodes]
    counts = np.bincount(topology.node[topology.is_there], minlength=len(names)).tolist()
    db.executemany(_PUT, _rows(deployment, tenant, names, counts, ids))


def replace(db: Connection, deployment: int, topology: Topology, ids: bytes) -> None:
    """Store the nodes of a deployment whose topology has changed. A deleted deployment gets none."""
    drop(db, [deployment])
    found = db.execute("select tenant from deployment where number = ? and deleted_at = 0", (deployment,)).fetchone()
    if found is not None:
        put(db, deployment, found[0], topology, ids)


def drop(db: Connection, deployments: Iterable[int]) -> None:
    """Delete the nodes of deployments."""
    db.execute(f"delete from deployment_node where deployment {CHOSEN}", (to_text(sorted(deployments)),))


def rebuild(db: Connection) -> None:
    """Fill the table from the topologies of all deployments that are not deleted; leave out unreadable topologies."""
    db.execute("delete from deployment_node")
    living = "select number, tenant from deployment where deleted_at = 0 order by number"
    for deployment, tenant in db.execute(living).fetchall():
        with suppress(*UNREADABLE):
            db.executemany(_PUT, rows_of_topology(db, deployment, tenant))


NodeRow = tuple[str, str, int, int]
"""Tenant, node, deployment, number of the node's instances that were not removed."""


def rows_of_topology(db: Connection, deployment: int, tenant: str) -> list[NodeRow]:
    """Return the rows of a deployment by its topology. Raises: ValueError and others if it cannot be read."""
    row = db.execute("select nodes, node, ids from topology where deployment = ?", (deployment,)).fetchone()
    nodes, node, ids = row
    told, numbers = json.loads(nodes), decode(node)
    there = np.ones(len(numbers), bool)
    there[told.get("gone", [])] = False
    names = told["names"]
    return _rows(deployment, tenant, names, np.bincount(numbers[there], minlength=len(names)).tolist(), ids)


def _rows(deployment: int, tenant: str, names: Sequence[str], counts: Sequence[int], ids: bytes) -> list[NodeRow]:
    """Return the rows of a deployment. A removed node may have the same name as a present one."""
    instances: dict[str, int] = {}
    for name, count in zip(names, counts, strict=True):
        instances[name] = instances.get(name, 0) + count
    if ids and not _begin_with_nodes(ids, instances):
        instances.setdefault(OTHERS, 0)
    return [(tenant, name, deployment, count) for name, count in instances.items()]


def _begin_with_nodes(ids: bytes, names: Iterable[str]) -> bool:
    r"""Return True if each id begins with one of the names and ``_``.

    >>> _begin_with_nodes(b"web_1\x00db_2", ["web", "db"]), _begin_with_nodes(b"web_1\x00disk", ["web", "db"])
    (True, False)
    """
    heads = sorted(f"{name}_".encode() for name in names)
    shortest: list[bytes] = []
    for head in heads:
        if not shortest or not head.startswith(shortest[-1]):
            shortest.append(head)
    if len(shortest) <= FEW_NODES:
        text = _MARK + ids
        return sum(text.count(_MARK + head) for head in shortest) == ids.count(_MARK) + 1
    chosen = tuple(shortest)
    known = set(chosen)
    return all(id.rpartition(b"_")[0] + b"_" in known or id.startswith(chosen) for id in ids.split(_MARK))


# -- reading


def with_ids(
    db: Connection, beginning: str, *, kind: str = "", limit: int | None = None
) -> list[tuple[DeploymentRow, list[str]]]:
    """Return the deployments that have instances whose ids begin so, by name, with these ids.

    ``kind``: only deployments of this kind. ``limit``: that many deployments. Unreadable ids are left out.
    """
    where = WhereClause("deleted_at = 0")
    if kind:
        where.add("kind = ?", kind)
    if beginning:
        named = WhereClause("tenant = ?")
        named.add_beginning("node", beginning)
        heads = [beginning[:at] for at, sign in enumerate(beginning) if sign == "_"]
        where.add(
            f"""number in (select deployment from deployment_node where tenant = ? and node {CHOSEN}
            union all select deployment from deployment_node{named})""",
            TENANT,
            to_text([OTHERS, *heads]),
            TENANT,
            *named.values,
        )
        sought = beginning.encode()
        where.add("(substr(ids, 1, ?) = ? or instr(ids, ?) > 0)", len(sought), sought, _MARK + sought)
    rest = f"{where} order by name{'' if limit is None else f' limit {int(limit)}'}"
    joined = " join topology on topology.deployment = deployment.number"
    found = []
    for row, (text,) in reads.deployments_joined(db, joined, ", ids", "b", rest, where.values):
        try:
            ids = [id for id in ids_from(text) if id.startswith(beginning)]
        except UNREADABLE:
            continue
        if ids:
            found.append((row, ids))
    return found


def node_names(db: Connection, deployment: int | None) -> set[str]:
    """Return the names of all nodes, or of those of one deployment."""
    where, values = ("", ()) if deployment is None else (" where deployment = ?", (deployment,))
    return {name for (name,) in db.execute(f"select distinct node from deployment_node{where}", values)} - {OTHERS}
