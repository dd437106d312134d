"""Keeping the read model: what is written to its tables when deployments and executions change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.connection import Connection
from phaseline.store.sql.read_model import nodes, summaries
from phaseline.store.sql.read_model.conditions import CHOSEN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Changes
    from phaseline.model.rows.rows import DeploymentKind, Reshaped


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


def follow_turn(
    db: Connection, changes: Changes, reshaped: Collection[Reshaped], states: Mapping[int, np.ndarray]
) -> None:
    """Store the summaries of deployments of which an execution has ended in a turn, or which the turn has changed.

    ``states`` has the states of deployments that the caller knows. Most turns end no execution and do nothing here.
    """
    ended = [change.execution for change in changes.executions if change.status.is_ended]
    found = {row.deployment for row in reshaped}
    if ended:
        which = f"select deployment from execution where number {CHOSEN}"
        found.update(number for (number,) in db.execute(which, (to_text(ended),)))
    if found:
        summaries.refresh(db, found, {number: states[number] for number in found & states.keys()})


def rebuild(db: Connection) -> None:
    """Fill the read model from what is stored, after an upgrade of an older store."""
    nodes.rebuild(db)
    summaries.rebuild(db)
    db.execute("update store set execution_count = (select count(*) from execution)")
