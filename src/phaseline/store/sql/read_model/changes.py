"""Keeping the read model: what is written to its tables when deployments and executions change.

``deployment_node`` lists which deployments have a node of a name, so that an instance's id leads to them. The id of an
instance of a blueprint begins with the name of its node and ``_``. Resources have names of any form, so a deployment
with other ids has a row with an empty name, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.store.codec.instance_ids import SEPARATOR
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql.read_model.one_statement import CHOSEN, COUNTED, OTHERS, OUT_OF_DATE

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import DeploymentKind
    from phaseline.store.database.connection import Connection

FEW_NODES = 16
"""Largest number of nodes for which their names are searched in the text of all ids, each once."""
_AT_FIRST: Mapping[DeploymentKind, str] = {"blueprint": "not_installed", "resources": "good"}
"""Status of a new deployment, as ``deployment_summaries.status_of`` finds it."""
_ADD_SUMMARY = """insert into deployment_summary (deployment, latest, status, states, instances, is_calm)
    values (?, 0, ?, ?, ?, 1)"""
_ADD_NODE = "insert into deployment_node (tenant, node, deployment, instances) values (?, ?, ?, ?)"
_DROP_EXECUTIONS = f"""update deployment_summary set status = '{OUT_OF_DATE}', is_calm = 0
    where deployment in (select deployment from execution where number {CHOSEN}) and (is_calm = 0 or latest {CHOSEN})"""
_COUNT_ADDED = """insert into tenant (name, execution_count) values (?, 1)
    on conflict (name) do update set execution_count = tenant.execution_count + 1"""
_COUNT_DROPPED = f"""update tenant set execution_count = execution_count - (
        select count(*) from execution where execution.tenant = tenant.name and number {CHOSEN} and {COUNTED})
    where name in (select tenant from execution where number {CHOSEN})"""
"""What an upgrade has left to be counted is not counted yet, so nothing is subtracted for it."""
_MARK = SEPARATOR.encode()


def add_deployment(
    db: Connection, number: int, tenant: str, kind: DeploymentKind, topology: Topology, ids: bytes
) -> None:
    """Add a new deployment. ``ids``: the ids of its instances as they are stored."""
    _add_summary(db, number, kind, int(topology.is_there.sum()))
    _put(db, number, tenant, topology, ids)


def drop_deployments(db: Connection, deployments: Collection[int]) -> None:
    """Remove deployments that are being deleted."""
    _drop_summaries(db, deployments)
    drop_nodes(db, deployments)


def replace_topology(db: Connection, deployment: int, topology: Topology, ids: bytes) -> None:
    """Replace the nodes of a deployment, and the number of its instances. ``ids``: as they are stored."""
    _replace(db, deployment, topology, ids)
    _resize(db, deployment, int(topology.is_there.sum()))


def add_execution(db: Connection, tenant: str) -> None:
    """Count an execution that is added."""
    db.execute(_COUNT_ADDED, (tenant,))


def drop_executions(db: Connection, executions: Collection[int]) -> None:
    """Note that these executions are about to be deleted: mark the summaries that may change as out of date.

    A summary changes with the latest execution of its deployment, and with failed ones if it is not calm.
    """
    if executions:
        told = to_text(sorted(executions))
        db.execute(_DROP_EXECUTIONS, (told, told))
        db.execute(_COUNT_DROPPED, (told, told))


# -- summaries


def _add_summary(db: Connection, number: int, kind: DeploymentKind, instance_count: int) -> None:
    """Store the summary of a new deployment, all of whose instances are uninitialized."""
    states = to_text({0: instance_count} if instance_count else {})
    db.execute(_ADD_SUMMARY, (number, _AT_FIRST[kind], states, instance_count))


def _drop_summaries(db: Connection, deployments: Collection[int]) -> None:
    """Delete the summaries of deleted deployments."""
    db.execute(f"delete from deployment_summary where deployment {CHOSEN}", (to_text(sorted(deployments)),))


def _resize(db: Connection, deployment: int, instance_count: int) -> None:
    """Store the number of instances of a deployment, which is read while an execution of it is open, too."""
    db.execute("update deployment_summary set instances = ? where deployment = ?", (instance_count, deployment))


# -- nodes

NodeRow = tuple[str, str, int, int]
"""Tenant, node, deployment, number of the node's instances that were not removed."""


def _put(db: Connection, deployment: int, tenant: str, topology: Topology, ids: bytes) -> None:
    """Store the nodes of a deployment. ``ids``: the ids of its instances as they are stored."""
    names = [node.name for node in topology.nodes]
    counts = np.bincount(topology.node[topology.is_there], minlength=len(names)).tolist()
    put_nodes(db, node_rows(deployment, tenant, names, counts, ids))


def _replace(db: Connection, deployment: int, topology: Topology, ids: bytes) -> None:
    """Store the nodes of a deployment whose topology has changed. A deleted deployment gets none."""
    drop_nodes(db, [deployment])
    found = db.execute("select tenant from deployment where number = ? and deleted_at = 0", (deployment,)).fetchone()
    if found is not None:
        _put(db, deployment, found[0], topology, ids)


def put_nodes(db: Connection, rows: Sequence[NodeRow]) -> None:
    """Store these rows of deployments that have none."""
    db.executemany(_ADD_NODE, rows)


def drop_nodes(db: Connection, deployments: Iterable[int]) -> None:
    """Delete the nodes of deployments."""
    db.execute(f"delete from deployment_node where deployment {CHOSEN}", (to_text(sorted(deployments)),))


def node_rows(deployment: int, tenant: str, names: Sequence[str], counts: Sequence[int], ids: bytes) -> list[NodeRow]:
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
