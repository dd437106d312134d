"""Deployments by the names of their nodes, which the table ``deployment_node`` has (see ``changes``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.store.codec.instance_ids import SEPARATOR, ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.instance_columns import UNREADABLE
from phaseline.store.sql.read_model.one_statement import CHOSEN, OTHERS, TENANT, WhereClause

if TYPE_CHECKING:
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.store.database.connection import Connection

_MARK = SEPARATOR.encode()


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
