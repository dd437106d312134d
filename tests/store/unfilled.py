"""Stores of schema 9, and stores that are not filled yet: what an upgrade finds and what it leaves (UP3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from tests.store.old_stores import unpack

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery, InstanceQuery
from phaseline.ports.store import Store
from phaseline.store.database.connection import Connection
from phaseline.store.database.table_shapes import converted
from phaseline.store.migrations import upgrade
from phaseline.store.postgres import schema

Execute = Callable[[str], Any]
"""Executes a statement that both databases understand."""

NOT_FILLED = (
    "delete from deployment_summary",
    "delete from deployment_node",
    "delete from filling",
    "delete from tenant",
    "insert into filling select 'deployments', 0, coalesce(max(number), 1), 0, '' from deployment",
    "insert into filling select 'executions', 0, coalesce(max(number), 1), 0, '' from execution",
)
"""Makes a store as it is between the migration to schema 10 and the first step."""
TEMPLATE = """select min(number) from deployment where kind = 'blueprint' and deleted_at = 0
    and number in (select deployment from execution)
    and number not in (select deployment from execution where ended_at = 0)"""
"""A deployment of which all executions have ended."""
SERIAL = "select setval(pg_get_serial_sequence('{0}', 'number'), coalesce(max(number), 1)) from {0}"
FIRST_COPY = 1_000_000
"""Number of the first copied deployment."""
_SERIES = "with recursive series(place) as (select 0 union all select place + 1 from series where place + 1 < {count})"
_COPIED = {
    "deployment": """tenant, 'copy-' || place, blueprint_file, description, blueprint_folder, plugin_folders, instance_count,
        created_at, created_by, deleted_at, deleted_by, kind, imported""",
    "blueprint": "body, inputs",
    "topology": "nodes, ids, node, ordinal, container, host, links, link, source, target, version",
    "state_page": "state_page.number, states",
}


def multiply(execute: Execute, count: int, executions: int) -> None:
    """Add ``count`` deployments like one that is there, each with so many executions."""
    ((template,),) = execute(TEMPLATE).fetchall()
    series = _SERIES.format(count=count)
    for table, columns in _COPIED.items():
        key = "number" if table == "deployment" else "deployment"
        execute(
            f"insert into {table} {series} select {FIRST_COPY} + place, {columns} from {table}, series where {key} = {template}"
        )
    series = _SERIES.format(count=count * executions)
    execute(
        f"""insert into execution {series} select {FIRST_COPY} + place, 'install-' || ({FIRST_COPY} + place), tenant,
        {FIRST_COPY} + place / {executions}, request, status, reason, attempt, created_at, started_at, ended_at, created_by,
        last_batch from (select * from execution where deployment = {template} order by number limit 1) as one, series"""
    )


def schema_9(path: Path, count: int = 0, executions: int = 1) -> None:
    """Make the file of a store as the program of schema 9 has left it, with so many more deployments."""
    unpack(7, path)
    upgrade(str(path), "0009")
    if count:
        with closing(sqlite3.connect(path)) as db, db:
            multiply(db.execute, count, executions)


def moved(file: Path, url: str) -> None:
    """The tables and rows of a file of an older version as they would be in PostgreSQL."""
    with closing(sqlite3.connect(file)) as old, psycopg.connect(url) as new:
        statements = dict(
            old.execute("select name, sql from sqlite_master where sql is not null and name not like 'sqlite%'")
        )
        tables = [name for name, text in statements.items() if text.lower().startswith("create table")]
        for text in statements.values():
            new.execute(converted(text))
        for table in tables:
            rows = old.execute(f"select * from {table}").fetchall()
            if rows:
                new.cursor().executemany(f"insert into {table} values ({', '.join(['%s'] * len(rows[0]))})", rows)
            if "autoincrement" in statements[table]:
                new.execute(SERIAL.format(table))
        for text in schema.EXTRA:
            if "index execution_deployment" not in text:
                new.execute(text.replace("{folded}", "lower($1)"))


def empty(db: Connection) -> None:
    """Make a store as the migration has left it: nothing is filled."""
    for statement in NOT_FILLED:
        db.execute(statement)


def unsettled(store: Store) -> set[int]:
    """Executions that may need attention: at least those that do, and all of deployments that are not filled."""
    return {row.number for row, _ in store.listings.unsettled()}


def shown(store: Store, *, ids: tuple[str, ...] = ("host", "app_1", "path", "cluster-00000-1")) -> Mapping[str, object]:
    """What lists show of a store, by all queries that read what an upgrade fills."""
    lists = store.listings
    rows = store.deployments()
    found: dict[str, object] = {
        "summaries": lists.summaries([row.number for row in rows]),
        "nodes": lists.node_names(),
        "count": lists.count(ExecutionQuery()),
        "page": list(lists.page(ExecutionQuery(limit=3))),
    }
    for row in rows:
        found[f"nodes of {row.name}"] = lists.node_names(row.number)
    for id in ids:
        found[f"ids {id}"] = [(row.name, list(some)) for row, some in lists.with_ids(id)]
    for status in ("good", "requires_attention", "in_progress", "not_installed"):
        found[f"status {status}"] = lists.page(DeploymentQuery(status=status))
    states = ("", InstanceState.STARTED.name.lower(), "Started")
    for node in ("", "app", "host", "Disk"):
        for state in states:
            page = lists.instances(InstanceQuery(node=node, state=state, limit=7))
            found[f"instances {node} {state}"] = (
                [(each.deployment, each.id) for each in page.rows],
                page.total,
                page.flaws,
            )
    return found
