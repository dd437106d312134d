"""SQL script with the tables of a new store. A test checks that the migrations lead to equal tables.

Each table whose rows a person can name has a column for the tenant (ADR 0050), or leads to one: what belongs to a
deployment, an execution or a graph has the tenant of that. Times are in ms, 0 meaning "not yet". Columns of
numbers are the bytes of ``codec.columns``; lists and mappings are JSON.

The members of a batch are in its row: ``positions`` of all members and, if they are from several graphs, ``graphs``
with the id of each graph and ``ends`` with the index after its last member. No index leads from executions to batches,
because each commit would have to write a page of it. Instead, the batch ids of an execution are above ``after_batch``
of its first graph and, once it has ended, at most its ``last_batch`` (0: unknown).

``deployment_summary``, ``deployment_node`` and ``tenant`` repeat data of other tables, so that lists need not
read these (ADR 0049). ``filling`` has a row for each part of them that an upgrade has left to be filled in steps: what
has a number up to ``position`` is filled, or above ``last``, which is newer than the upgrade (ADR 0051).
"""

from __future__ import annotations

SCHEMA_VERSION = 15
"""Version of the tables, kept in the file as ``user_version``; each migration adds one."""
APPLICATION_ID = 0x5048_4C4E
"""Number in the header of a SQLite file that marks it as a store of Phaseline ("PHLN")."""
REVISION = "0015"
"""Last migration, under its name in alembic."""
MIN_READER, MIN_WRITER = 11, 15
"""Oldest versions of the tables whose programs may read, and may write, a store of this version (UP1)."""
IS_OPEN = "status in ('queued', 'running', 'canceling', 'attention')"
"""SQL condition for an execution that has not ended.

Its text equals the condition of the index, so that SQLite uses the index.
"""
IS_STALE = "status = ''"
"""SQL condition for a summary of a deployment that is out of date; its text equals the condition of an index, too."""
IS_LEFT = "status in ('failed', 'canceled')"
"""SQL condition for an execution that may have left failed entries; its text equals the condition of an index, too."""

TABLES = (
    "create table alembic_version (version_num varchar(32) not null, constraint alembic_version_pkc primary key (version_num))",
    "create table store_schema (version integer not null, min_reader integer not null, min_writer integer not null)",
    """create table store (
        identity text not null, created_at integer not null, epoch integer not null,
        purged_graph integer not null default 0, purged_batch integer not null default 0,
        place text not null default '', inode integer not null default 0, device integer not null default 0,
        held integer not null default 0, held_request integer not null default 0)""",
    "create table tenant (name text not null primary key, execution_count integer not null) without rowid",
    """create table deployment (
        number integer primary key autoincrement, tenant text not null, name text not null,
        blueprint_file text not null, description text not null, blueprint_folder text not null,
        plugin_folders text not null, instance_count integer not null, created_at integer not null,
        created_by text not null, deleted_at integer not null, deleted_by text not null default '',
        kind text not null default 'blueprint', imported text not null default '[]')""",
    "create unique index deployment_live on deployment (tenant, name) where deleted_at = 0",
    """create table deployment_summary (
        deployment integer primary key, latest integer not null, status text not null, states text not null,
        instances integer not null, is_calm integer not null)""",
    f"create index deployment_summary_stale on deployment_summary (deployment) where {IS_STALE}",
    """create table deployment_node (
        tenant text not null, node text not null, deployment integer not null, instances integer not null,
        primary key (tenant, node, deployment)) without rowid""",
    "create index deployment_node_deployment on deployment_node (deployment)",
    """create table filling (
        name text not null primary key, position integer not null, last integer not null, at integer not null,
        worker text not null) without rowid""",
    """create table blueprint (
        deployment integer primary key, body text not null, inputs text not null)""",
    """create table topology (
        deployment integer primary key, nodes text not null, ids blob not null, node blob not null,
        ordinal blob not null, container blob not null, host blob not null, links blob not null,
        link blob not null, source blob not null, target blob not null, version integer not null default 0)""",
    """create table state_page (
        deployment integer not null, number integer not null, states blob not null,
        primary key (deployment, number))""",
    """create table check_page (
        deployment integer not null, kind integer not null, number integer not null, results blob not null,
        times blob not null, executions blob not null, primary key (deployment, kind, number))""",
    """create table check_body (
        deployment integer not null, kind integer not null, subject integer not null, body text not null,
        primary key (deployment, kind, subject)) without rowid""",
    """create table document (
        deployment integer not null, instance integer not null, version integer not null, body text not null,
        primary key (deployment, instance))""",
    """create table execution (
        number integer primary key autoincrement, id text not null unique, tenant text not null,
        deployment integer not null, request text not null, status text not null, reason text not null,
        attempt integer not null, created_at integer not null, started_at integer not null,
        ended_at integer not null, created_by text not null, last_batch integer not null default 0)""",
    "create index execution_deployment on execution (deployment)",
    "create index execution_tenant on execution (tenant, number)",
    "create table around (execution integer primary key, body text not null)",
    f"create index execution_open on execution (deployment) where {IS_OPEN}",
    f"create index execution_left on execution (deployment) where {IS_LEFT}",
    """create table graph (
        id integer primary key, execution integer not null, name text not null, attempt integer not null,
        entry_count integer not null, steps text not null, policies text not null, subject blob not null,
        policy blob not null, marks blob not null, ptr blob not null, idx blob not null, cohort blob not null,
        created_at integer not null default 0, after_batch integer not null default 0)""",
    "create index graph_execution on graph (execution)",
    """create table page (
        graph integer not null, number integer not null, statuses blob not null, primary key (graph, number))""",
    """create table note (
        graph integer not null, position integer not null, attempts integer not null, generation integer not null,
        due integer not null, message text not null, error text not null, result text not null,
        primary key (graph, position)) without rowid""",
    """create table batch (
        id integer primary key, phase text not null, started_at integer not null, deadline_at integer not null,
        closed_at integer not null, process_group integer not null, kinds blob,
        first_graph integer not null default 0, last_graph integer not null default 0,
        positions blob not null default x'', graphs blob, ends blob)""",
    "create index batch_open on batch (id) where closed_at = 0",
    """create table log (
        execution integer not null, sequence integer not null, at integer not null, level text not null,
        instance integer not null, operation text not null, text text not null,
        primary key (execution, sequence)) without rowid""",
    """create table event (
        execution integer not null, sequence integer not null, at integer not null, type text not null,
        instance integer not null, operation text not null, actor text not null, message text not null,
        primary key (execution, sequence)) without rowid""",
    """create table request (
        number integer primary key autoincrement, at integer not null, actor text not null, tenant text not null,
        kind text not null, execution integer not null, body text not null, answered_at integer not null default 0,
        answer text not null default '')""",
    "create index request_unanswered on request (number) where answered_at = 0",
    "create index request_execution on request (execution)",
    "create table remains (kind text not null, number integer not null, primary key (kind, number)) without rowid",
    """create table state_name (
        deployment integer not null, place integer not null, name text not null,
        primary key (deployment, place)) without rowid""",
    """create table paused_phase (
        tenant text not null, name text not null collate nocase, at integer not null, actor text not null,
        reason text not null, primary key (tenant, name)) without rowid""",
    "create table known_phase (name text not null primary key, known text not null) without rowid",
    """create table secret (
        tenant text not null, name text not null, version integer not null, body blob not null, data_key blob not null,
        master_key text not null, created_at integer not null, created_by text not null, updated_at integer not null,
        updated_by text not null, primary key (tenant, name)) without rowid""",
    "create table data_key (purpose text not null primary key, wrapped blob not null, master_key text not null) without rowid",
    """create table stored_blueprint (
        number integer primary key autoincrement, tenant text not null, id text not null, version integer not null,
        main_file text not null, digest text not null, description text not null, language text not null,
        file_count integer not null, size_bytes integer not null, created_at integer not null, created_by text not null)""",
    "create unique index stored_blueprint_version on stored_blueprint (tenant, id, version)",
    """create table stored_path (
        blueprint integer not null, path text not null, content text not null, is_executable integer not null,
        primary key (blueprint, path)) without rowid""",
    "create index stored_path_content on stored_path (content)",
    "create table stored_content (digest text not null primary key, size_bytes integer not null, body blob not null)",
    """create table definition_file (
        tenant text not null, name text not null, version text not null, path text not null, content text not null,
        primary key (tenant, name, version, path)) without rowid""",
    "create index definition_file_content on definition_file (content)",
    """create table stored_import (
        blueprint integer not null, imported integer not null, primary key (blueprint, imported)) without rowid""",
    """create table blueprint_use (
        deployment integer not null, namespace text not null, blueprint integer not null,
        primary key (deployment, namespace)) without rowid""",
    """create table plan (
        number integer primary key autoincrement, tenant text not null, deployment integer not null, request text not null,
        created_at integer not null, created_by text not null, base text not null, body text not null, told text not null,
        aim text not null, execution integer not null)""",
    "create index plan_deployment on plan (deployment)",
    "create index plan_execution on plan (execution) where execution > 0",
    """create table label (
        deployment integer not null, key text not null, value text not null,
        primary key (deployment, key, value)) without rowid""",
    "create index label_key on label (key, value)",
    """create table dependency (
        tenant text not null, deployment integer not null, position integer not null, kind text not null,
        creator text not null, function text not null, provider text not null, number integer not null,
        instance text not null, primary key (deployment, position)) without rowid""",
    "create index dependency_provider on dependency (tenant, provider, deployment)",
    "create index dependency_number on dependency (number, deployment) where number > 0",
    """create table hook_switch (
        tenant text not null, name text not null, deployment integer not null, at integer not null,
        actor text not null, reason text not null, primary key (tenant, name, deployment)) without rowid""",
    """create table stack_document (
        kind text not null, name text not null, deployment integer not null, deployment_name text not null,
        at integer not null, created_by text not null, body text not null,
        tenant text not null default 'default_tenant', primary key (kind, deployment, name)) without rowid""",
    "create table measure (name text not null primary key, at integer not null, body text not null) without rowid",
    """create table package (
        number integer primary key autoincrement, tenant text not null, name text not null, version text not null,
        format text not null, digest text not null, title text not null, origin text not null, file_count integer not null,
        size_bytes integer not null, installed_at integer not null, installed_by text not null,
        removed_at integer not null)""",
    "create unique index package_installed on package (tenant, name, version) where removed_at = 0",
    """create table package_path (
        package integer not null, path text not null, content text not null, is_executable integer not null,
        primary key (package, path)) without rowid""",
    "create index package_path_content on package_path (content)",
    """create table package_use (
        deployment integer not null, package integer not null, is_enabled integer not null, is_imported integer not null,
        settings text not null, folders text not null, at integer not null, actor text not null, primary key (deployment, package)) without rowid""",
    "create index package_use_package on package_use (package)",
    """create table incarnation (
        number integer primary key, name text not null, at integer not null, cause text not null,
        first_graph integer not null, first_batch integer not null)""",
    """create table given_order (
        tenant text not null, actor text not null, id text not null, digest text not null, at integer not null,
        requests text not null, executions text not null, answer blob not null,
        primary key (tenant, actor, id)) without rowid""",
    "create index given_order_at on given_order (at)",
    """create table cause (
        made text not null, number integer not null, tenant text not null, kind text not null, cause integer not null,
        key text not null, primary key (made, number)) without rowid""",
    "create unique index cause_key on cause (kind, cause, key, made)",
    """create table awaiting (
        execution integer not null, graph integer not null, position integer not null, awaited integer not null,
        tenant text not null, since integer not null, primary key (execution, graph, position, awaited)) without rowid""",
    "create index awaiting_awaited on awaiting (awaited)",
    """create table schedule (
        number integer primary key autoincrement, tenant text not null, deployment integer not null,
        deployment_group text not null, name text not null, spec text not null, origin text not null,
        is_enabled integer not null, switched_by text not null, reason text not null, next_at integer not null,
        last_at integer not null, revision integer not null, changed_by text not null, created_at integer not null,
        created_by text not null)""",
    "create unique index schedule_name on schedule (deployment, deployment_group, name)",
    "create index schedule_next on schedule (next_at) where is_enabled = 1",
    """create table schedule_run (
        schedule integer not null, due integer not null, last_due integer not null, count integer not null,
        fired_at integer not null, execution integer not null, outcome text not null, reason text not null,
        primary key (schedule, due)) without rowid""",
    """create table deployment_group (
        number integer primary key autoincrement, tenant text not null, name text not null, description text not null,
        blueprint text not null, plugin_folders text not null, inputs text not null, labels text not null,
        made_count integer not null, created_at integer not null, created_by text not null)""",
    "create unique index deployment_group_name on deployment_group (tenant, name)",
    """create table group_member (
        deployment_group integer not null, deployment integer not null,
        primary key (deployment_group, deployment)) without rowid""",
    "create index group_member_deployment on group_member (deployment)",
    """create table group_run (
        number integer primary key autoincrement, tenant text not null, deployment_group integer not null,
        group_name text not null, workflow text not null, concurrency integer not null, stop_failures integer not null,
        is_paused integer not null, created_at integer not null, created_by text not null)""",
    "create index group_run_name on group_run (tenant, group_name)",
)
