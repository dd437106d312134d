"""Keeping the read model: what is written to its tables when deployments and executions change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.store.database.connection import Connection
from phaseline.store.sql.read_model import nodes, summaries

if TYPE_CHECKING:
    from collections.abc import Collection

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import DeploymentKind


def add_deployment(
    db: Connection, number: int, tenant: str, kind: DeploymentKind, topology: Topology, ids: bytes
) -> None:
    """Add a new deployment. ``ids``: the ids of its instances as they are stored."""
    summaries.add(db, number, kind, int(topology.is_there.sum()))
    nodes.put(db, number, tenant, topology, ids)


def drop_deployments(db: Connection, deployments: Collection[int]) -> None:
    """Remove deployments that are being deleted."""
    summaries.drop(db, deployments)
    nodes.drop(db, deployments)


def replace_topology(db: Connection, deployment: int, topology: Topology, ids: bytes) -> None:
    """Store the nodes of a deployment anew, and the number of its instances. ``ids``: as they are stored."""
    nodes.replace(db, deployment, topology, ids)
    summaries.resize(db, deployment, int(topology.is_there.sum()))


def rebuild(db: Connection) -> None:
    """Fill the read model from what is stored, after an upgrade of an older store."""
    nodes.rebuild(db)
    summaries.rebuild(db)
    db.execute("update store set execution_count = (select count(*) from execution)")
