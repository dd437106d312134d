"""Deployments by the names of their nodes, which the table ``deployment_node`` has (see ``changes``)."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from phaseline.store.codec.instance_ids import SEPARATOR, ids_from
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.instance_columns import UNREADABLE
from phaseline.store.sql.read_model.one_statement import (
    CHOSEN,
    OTHERS,
    UNFILLED,
    Part,
    WhereClause,
    select_together,
)

if TYPE_CHECKING:
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows

_MARK = SEPARATOR.encode()


def with_ids(
    db: Connection, own: TenantRows, beginning: str, *, kind: str = "", limit: int | None = None
) -> list[tuple[DeploymentRow, list[str]]]:
    """Return the deployments that have instances whose ids begin so, by name, with these ids.

    ``kind``: only deployments of this kind. ``limit``: that many deployments. Unreadable ids are left out.
    """
    where = WhereClause("deleted_at = 0")
    where.add_tenant(own, "tenant")
    if kind:
        where.add("kind = ?", kind)
    if beginning:
        whole, begun = WhereClause(), WhereClause()
        for each in (whole, begun):
            each.add_tenant(own, "tenant")
        heads = [beginning[:at] for at, sign in enumerate(beginning) if sign == "_"]
        whole.add(f"node {CHOSEN}", to_text([OTHERS, *heads]))
        begun.add_beginning("node", beginning)
        where.add(
            f"""number in (select deployment from deployment_node{whole}
            union all select deployment from deployment_node{begun} union all {UNFILLED})""",
            *whole.values,
            *begun.values,
        )
        sought = beginning.encode()
        where.add("(substr(ids, 1, ?) = ? or instr(ids, ?) > 0)", len(sought), sought, _MARK + sought)
    rest = f"{where} order by name{'' if limit is None else f' limit {int(limit)}'}"
    joined = " join topology on topology.deployment = deployment.number"
    found = []
    for row, (text,) in reads.deployments_joined(db, own, joined, ", ids", "b", rest, where.values):
        try:
            ids = [id for id in ids_from(text) if id.startswith(beginning)]
        except UNREADABLE:
            continue
        if ids:
            found.append((row, ids))
    return found


def node_names(db: Connection, own: TenantRows, deployment: int | None) -> set[str]:
    """Return the names of all nodes, or of those of one deployment."""
    kept_of, told_of = WhereClause(), WhereClause(f"deployment in ({UNFILLED})")
    for each in (kept_of, told_of):
        if deployment is not None:
            each.add("deployment = ?", deployment)
    kept_of.add_tenant(own, "tenant")
    if own.tenant is not None:
        told_of.add("deployment in (select number from deployment where tenant = ?)", own.tenant)
    parts = [
        Part(f"select distinct node from deployment_node{kept_of}", "t", kept_of.values),
        Part(f"select nodes from topology{told_of}", "t", told_of.values),
    ]
    kept, told = select_together(db, parts)
    found = {name for (name,) in kept} - {OTHERS}
    for (nodes,) in told:
        with suppress(*UNREADABLE):
            found.update(json.loads(nodes)["names"])
    return found
