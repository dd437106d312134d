"""Maintenance of a store: check, back up, restore and compact it, and purge old executions.

Except for restoring, engines may work on the store meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app import store_location
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.store.sqlite import restore as sqlite_restore
from phaseline.use_cases.lookup import installed_packages
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.maintenance import Compacted, RestoredStore, StoreFinding
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.store import Store

GIVE_WAY_S = 0.003
"""Pause in seconds between two slices of a purge, so that a waiting engine can write its turn."""


@frozen
class CheckedStore:
    """The result of ``check``: a store and its inconsistencies; ``findings`` is empty if there are none."""

    url: str
    findings: Sequence[StoreFinding]


@frozen
class Saved:
    """The result of ``backup``: a copy of the store."""

    file: str
    size_bytes: int


@frozen
class Released:
    """Ids of the executions that waited since the store was restored and may now continue, oldest first."""

    executions: Sequence[str]


@frozen
class Purge:
    """The result of a purge: ids of the executions, oldest first. ``removed`` is None for a dry run."""

    before_at: int
    executions: Sequence[str]
    removed: Purged | None = None


def check(ctx: RequestContext) -> CheckedStore:
    """Read all data of the store and compare it for inconsistencies. Nothing is changed, and engines continue."""
    return CheckedStore(store_location.shown_url(ctx.settings.store_url), ctx.store.check())


def backup(ctx: RequestContext, file: str) -> Saved:
    """Copy the present store into a new file. Raises: PL-S006 if the file exists or cannot be written."""
    path = Path(file).expanduser().absolute()
    return Saved(str(path), ctx.store.backup(str(path)))


def restore(ctx: RequestContext, source: str) -> RestoredStore:
    """Replace the store with a backup; the present store is kept beside it.

    Executions that were open when the backup was made wait until ``go_on`` is called. Raises: PL-S014 for a file that
    is no backup, PL-S004 and PL-S005 while other processes use the store, PL-S008 for a store in memory.
    """
    path = store_location.store_file(ctx.settings.store_url)
    if store_location.is_database(ctx.settings.store_url):
        text = "a store in a database is restored by the tools of the database"
        raise problem_error("PL-S014", text, "restore the database, such as with pg_restore")
    if path is None:
        text = "a store in memory cannot be restored: it is gone when its command ends"
        raise problem_error("PL-S008", text, "name a file with --store sqlite:///PATH")
    ctx.app.close()
    return sqlite_restore.restore(str(Path(source).expanduser().resolve()), str(path.resolve()), ctx.clock.now())


def go_on(ctx: RequestContext) -> Released:
    """Release the executions that wait because the store was restored.

    They may then continue or be canceled, and users may decide about them.
    """
    rows = ctx.store.incarnations.go_on(ctx.actor, ctx.clock.now())
    return Released([row.id for row in rows])


def compact(ctx: RequestContext) -> Compacted:
    """Return the free space in the store's file to the operating system."""
    return ctx.store.compact()


def purge(ctx: RequestContext, older_ms: int, *, deployment: str | None = None, dry_run: bool = False) -> Purge:
    """Remove executions that ended more than ``older_ms`` ago, with all their data.

    ``deployment``: only its executions; None: of all. Of each existing deployment, the last ``install`` and the last
    completed ``install`` stay. ``dry_run``: only list the executions that would be removed.
    """
    store = ctx.store
    before = ctx.clock.now() - older_ms
    number = find_deployment(store, deployment).number if deployment else None
    going = [row.id for row in old_executions(store, before, number)]
    if dry_run:
        return Purge(before, going)
    removed = purge_all(store, PurgeRules(executions_before=before, deployment=number))
    if store.has_packages:
        installed_packages.collect(ctx)  # files of packages that only removed executions could have needed
    return Purge(before, [id for id in going if store.execution(id) is None], removed)


def purge_all(store: Store, rules: PurgeRules) -> Purged:
    """Remove everything that is older than the rules allow, slice by slice; return the counts."""
    purging, removed = store.purging(rules), Purged()
    while True:
        removed += purging.slice()
        if purging.is_over:
            return removed
        time.sleep(GIVE_WAY_S)


def old_executions(store: Store, before: int, deployment: int | None) -> list[ExecutionRow]:
    """Return the executions that a purge would remove now, by the rule of ``ports.store.Store.purging``."""
    rows = store.executions(deployment)
    kept = _last_installs(rows, {row.number for row in store.deployments()})
    kept |= {request.execution for request in store.requests()}
    going = [row for row in rows if row.status.is_ended and row.ended_at < before and row.number not in kept]
    has_open_batches = bool(store.batches(only_open=True))
    return [row for row in going if not (has_open_batches and store.batches(execution=row.number, only_open=True))]


def _last_installs(rows: Sequence[ExecutionRow], living: set[int]) -> set[int]:
    """Return the numbers of the last install and the last completed install of each existing deployment."""
    last: dict[tuple[int, bool], int] = {}
    for row in rows:
        if row.request.workflow == "install" and row.deployment in living:
            last[row.deployment, False] = row.number
            if row.status is ExecutionStatus.COMPLETED:
                last[row.deployment, True] = row.number
    return set(last.values())
