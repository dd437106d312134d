"""Statements for deployments, executions and the epoch, which are too rare to matter for the engine's speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import labels_of
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import (
    IDS_OF_A_SHARD,
    ONLY_SHARD,
    Actor,
    ConcurrencyRule,
    ExecutionRow,
    NewDeployment,
    NewExecution,
    RequestKind,
)
from phaseline.store.codec import requests, topologies
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import errors as failures
from phaseline.store.sql import labels, stored_blueprints
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.read_model import changes as read_model

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from phaseline.model.blueprint.blueprint import Blueprint
    from phaseline.store.database.connection import Connection


_ADD_DEPLOYMENT = """insert into deployment (tenant, name, blueprint_file, description, blueprint_folder, plugin_folders,
    instance_count, created_at, created_by, deleted_at, deleted_by, kind, imported)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', ?, ?) returning number"""
_ADD_EXECUTION = """insert into execution (id, tenant, deployment, request, status, reason, attempt, created_at, started_at,
    ended_at, created_by, last_batch) values ('', ?, ?, ?, ?, '', 0, ?, 0, 0, ?, 0) returning number"""
_PRESENT = "select epoch, (select count(*) from filling), (select count(*) from awaiting) from store"
_COUNTERS = """select coalesce((select max(id) from graph where id between ? and ?), 0),
    coalesce((select max(id) from batch where id between ? and ?), 0), purged_graph, purged_batch from store"""


def epoch(db: Connection) -> int:
    """Return the epoch: how many times a process has become the owner of the store."""
    return int(db.execute("select epoch from store").fetchone()[0])


def raise_epoch(db: Connection) -> tuple[int, bool, bool]:
    """Add one to the epoch for a new owner.

    Return the new epoch, whether an upgrade has left anything to be filled, and whether an entry waits for an execution.
    """
    db.execute("update store set epoch = epoch + 1")
    number, left, waits = db.execute(_PRESENT).fetchone()
    return int(number), left > 0, waits > 0


def add_deployment(
    db: Connection, new: NewDeployment, text_of: Callable[[Blueprint], str] = topologies.blueprint_to_text
) -> int:
    """Store a deployment and return its number. Raises PL-S010 if the name is taken.

    ``text_of`` converts the blueprint to the text that is stored.
    """
    tenant = new.actor.tenant
    taken = "select 1 from deployment where tenant = ? and name = ? and deleted_at = 0"
    if db.execute(taken, (tenant, new.name)).fetchone():
        raise failures.name_taken(new.name)
    values = (
        tenant,
        new.name,
        new.blueprint.file,
        new.blueprint.description,
        new.code.blueprint_folder,
        to_text(new.code.plugin_folders),
        len(new.topology),
        new.created_at,
        new.actor.name,
        new.kind,
        to_text(new.code.imported),
    )
    number = int(db.execute(_ADD_DEPLOYMENT, values).fetchone()[0])
    body = text_of(new.blueprint)
    db.execute("insert into blueprint values (?, ?, ?)", (number, body, to_text(dict(new.inputs))))
    row = topologies.to_row(new.topology, new.blueprint)
    db.execute(f"insert into topology values (?{', ?' * len(row)}, 0)", (number, *row))
    read_model.add_deployment(db, number, tenant, new.kind, new.topology, topologies.ids_in(row))
    if new.uses:
        stored_blueprints.add_uses(db, number, new.uses)
    if new.packages:
        from phaseline.store.sql.package_uses import add_uses  # few deployments use any

        add_uses(db, number, new.packages)
    if new.blueprint.labels:
        labels.add_labels(db, number, labels_of(new.blueprint.labels))
    if new.dependencies:
        from phaseline.store.sql.estate import dependencies  # few deployments read another one

        dependencies.add(db, number, new.dependencies)
    if new.blueprint.deployment_settings.get("default_schedules"):
        from phaseline.store.sql.estate.schedules import add_schedules  # few blueprints have any

        settings = new.blueprint.deployment_settings
        add_schedules(db, number, settings, new.actor, new.created_at, is_enabled=new.has_enabled_schedules)
    growing.add_documents(db, number, new.documents)
    if new.cause is not None:
        from phaseline.store.sql.estate.causes import add_cause

        add_cause(db, "deployment", number, tenant, new.cause)
    return number


def delete_deployment(db: Connection, deployment: int, now: int, actor: Actor | None) -> None:
    """Delete a deployment, so that its name is free again. All other data stay, as history of its executions.

    Raises PL-C016 if an execution is open.
    """
    from phaseline.store.sql.estate.groups import leave_groups
    from phaseline.store.sql.estate.schedules import drop_schedules
    from phaseline.store.sql.stack_documents import drop_snapshots

    raise_if_open(db, deployment)
    drop_snapshots(db, deployment)
    drop_schedules(db, deployment)
    leave_groups(db, deployment)
    read_model.drop_deployments(db, [deployment])
    db.execute(
        "update deployment set deleted_at = ?, deleted_by = ? where number = ? and deleted_at = 0",
        (max(1, now), actor.name if actor else "", deployment),
    )


def deleted(db: Connection, deployments: Collection[int], since: int) -> tuple[int, list[int]]:
    """Return (number of deployments ever deleted, which of the given deployments are deleted or purged).

    If the number still is ``since``, the second value is empty. The number is computed as all deployments ever made
    minus those that exist, which an index counts fast.
    """
    (living,) = db.execute("select count(*) from deployment where deleted_at = 0").fetchone()
    count = db.last_number("deployment") - living
    if count == since or not deployments:
        return count, []
    rows = db.execute(
        "select number from deployment where deleted_at = 0 and number in (select value from json_each(?))",
        (to_text(sorted(deployments)),),
    )
    found = {number for (number,) in rows}
    return count, [number for number in sorted(deployments) if number not in found]


def counters(db: Connection, shard: int = ONLY_SHARD) -> tuple[int, int]:
    """Return (the id of the next graph of a shard, the id of its next batch)."""
    before = shard * IDS_OF_A_SHARD
    bounds = before + 1, before + IDS_OF_A_SHARD - 1
    graph, batch, purged_graph, purged_batch = db.execute(_COUNTERS, (*bounds, *bounds)).fetchone()
    if shard == ONLY_SHARD:
        graph, batch = max(graph, purged_graph), max(batch, purged_batch)
    return max(graph, before) + 1, max(batch, before) + 1


def raise_if_deleted(db: Connection, deployment: int) -> None:
    """Raise PL-C010 if the deployment was deleted, LookupError if it never existed."""
    found = db.execute("select name, deleted_at from deployment where number = ?", (deployment,)).fetchone()
    if found is None:
        raise LookupError(f"no deployment {deployment}")
    if found[1]:
        raise failures.deleted(found[0])


def add_execution(
    db: Connection, new: NewExecution, deployment: int, *, asks: bool, beside: ConcurrencyRule | None = None
) -> ExecutionRow:
    """Store an execution with status queued and return its row. Its id is the workflow and a number.

    ``asks``: also store a request to start it. ``beside`` returns True for an open execution that may run beside it.
    Raises: PL-C016 if another execution is open and ``beside`` does not allow it, PL-C010 if the deployment was
    deleted.
    """
    found = db.execute("select tenant, name, deleted_at from deployment where number = ?", (deployment,)).fetchone()
    if found is None:
        raise LookupError(f"no deployment {deployment}")
    if found[2]:
        raise failures.deleted(found[1])
    raise_if_open(db, deployment, new.request.workflow, beside)
    request = altered(new.request, is_surrounded=new.around is not None)
    values = (found[0], deployment, requests.to_json(request), ExecutionStatus.QUEUED.value, new.created_at)
    (number,) = db.execute(_ADD_EXECUTION, (*values, new.actor.name)).fetchone()
    read_model.add_execution(db, found[0])
    id = f"{new.request.workflow}-{number}"
    db.execute("update execution set id = ? where number = ?", (id, number))
    if new.around is not None:
        from phaseline.store.codec.pre_post import add_around

        add_around(db, number, new.around)
    if new.cause is not None:
        from phaseline.store.sql.estate.causes import add_cause

        add_cause(db, "execution", number, found[0], new.cause)
    if asks:
        actor = Actor(new.actor.name, found[0])
        asking.add_request(db, RequestKind.START, number, {}, actor, new.created_at)
    return reads.executions(db, id=id)[0]


def raise_if_open(db: Connection, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None) -> None:
    """Raise PL-C016 if an execution of the deployment is open or about to continue and ``beside`` does not allow it.

    ``workflow``: the workflow of the execution to start. Executions that bring resources to a target may run side by
    side.
    """
    for row in reads.executions(db, deployment=deployment, only_open=True):
        asking.raise_if_held(db, row)
        asking.raise_if_incompatible(row, workflow, beside)
    asking.raise_if_reopening(db, deployment, workflow, beside)
