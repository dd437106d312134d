"""Maintenance of a store: check, back up, restore, copy and compact it, and purge old executions.

Except for restoring and copying, engines may work on the store meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app import store_location
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.store import transfer, versions
from phaseline.store.sqlite import restore as sqlite_restore
from phaseline.use_cases.lookup import installed_packages
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.maintenance import Compacted, CopiedStore, RestoredStore, StoreFinding, StoreVersion
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import StoreRows, TenantStore

GIVE_WAY_S = 0.003
"""Pause in seconds between two slices of a purge or steps of an upgrade, so that a waiting engine can write its turn."""
TELL_EVERY_S = 1.0
"""Seconds between two reports of how far an upgrade has come."""


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
    return CheckedStore(store_location.shown_url(ctx.settings.store_url), ctx.app.upkeep.check())


def backup(ctx: RequestContext, file: str) -> Saved:
    """Copy the present store into a new file. Raises: PL-S006 if the file exists or cannot be written."""
    path = Path(file).expanduser().absolute()
    return Saved(str(path), ctx.app.upkeep.backup(str(path)))


def restore(ctx: RequestContext, source: str) -> RestoredStore:
    """Replace the store with a backup; the present store is kept beside it, or in another schema of its database.

    ``source``: the backup; or the store's own file or URL, if it was set back by other means. Executions that were open
    when the backup was made wait until ``go_on`` is called. Raises: PL-S014 for a file that is no backup, PL-S004 and
    PL-S005 while other processes use the store, PL-S008 for a store in memory.
    """
    url = ctx.settings.store_url
    if store_location.is_database(url):
        return _restore_into_database(ctx, source)
    path = store_location.store_file(url)
    if path is None:
        text = "a store in memory cannot be restored: it is gone when its command ends"
        raise problem_error("PL-S008", text, "name a file with --store sqlite:///PATH")
    ctx.app.close()
    return sqlite_restore.restore(str(Path(source).expanduser().resolve()), str(path.resolve()), ctx.clock.now())


def _restore_into_database(ctx: RequestContext, source: str) -> RestoredStore:
    url = ctx.settings.store_url
    if store_location.is_database(source) and source != url:
        text = f"the store cannot be restored from another database: {store_location.shown_url(source)}"
        raise problem_error("PL-S014", text, "copy it into an empty database: phaseline store copy FROM TO")
    ctx.app.close()
    file = source if source == url else str(Path(source).expanduser().resolve())
    done = transfer.restore_into_database(file, url, ctx.clock.now())
    return altered(done, file=store_location.shown_url(url))


def copy(ctx: RequestContext, source: str, target: str) -> CopiedStore:
    """Copy the store at the URL ``source`` to the URL ``target``, where no store is yet.

    The source is not changed. The copy counts as restored: its open executions wait until ``go_on`` is called on it.
    Raises: PL-S004 while a process owns the source, PL-S017 if there is a store at the target, PL-S007 and others.
    """
    done = transfer.copy(source, target, ctx.clock, ctx.notice)
    return altered(done, source=store_location.shown_url(source), target=store_location.shown_url(target))


def upgrade(ctx: RequestContext, *, check: bool = False) -> StoreVersion:
    """Bring the store's tables to the version that this program knows, and fill them; with ``check`` change nothing.

    Raises: PL-S002 for a store that is too new, PL-S005 while an engine of an older version owns it, PL-S007.
    """
    found = versions.version_of_store(ctx.settings.store_url)
    if check or found.is_finished:
        return found
    steps = _fill(ctx)
    before = found.schema if found.is_due else 0
    return altered(versions.version_of_store(ctx.settings.store_url), upgraded_from=before, steps=steps)


def _fill(ctx: RequestContext) -> int:
    """Do all steps that an upgrade has left; return their number. A store is upgraded when it is opened."""
    store, steps, told_at = ctx.app.upkeep, 0, time.monotonic()
    while store.continue_upgrade():
        steps += 1
        if time.monotonic() - told_at > TELL_EVERY_S:
            told_at = time.monotonic()
            for each in versions.version_of_store(ctx.settings.store_url).fillings:
                ctx.notice(f"{each.name}: {each.done:,} of {each.total:,} ({each.percent} %)")
        time.sleep(GIVE_WAY_S)
    return steps


def go_on(ctx: RequestContext) -> Released:
    """Release the executions that wait because the store was restored.

    They may then continue or be canceled, and users may decide about them.
    """
    rows = ctx.app.upkeep.incarnations.go_on(ctx.actor, ctx.clock.now())
    return Released([row.id for row in rows])


def compact(ctx: RequestContext) -> Compacted:
    """Return the free space in the store's file to the operating system."""
    return ctx.app.upkeep.compact()


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


def purge_all(store: StoreRows, rules: PurgeRules) -> Purged:
    """Remove everything that is older than the rules allow, slice by slice; return the counts."""
    purging, removed = store.purging(rules), Purged()
    while True:
        removed += purging.slice()
        if purging.is_over:
            return removed
        time.sleep(GIVE_WAY_S)


def old_executions(store: TenantStore, before: int, deployment: int | None) -> list[ExecutionRow]:
    """Return the executions that a purge would remove now, by the rule of ``ports.tenant_store.StoreRequests.purging``."""
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
