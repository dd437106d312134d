"""Looking after a store while engines work on it: check it, copy it, give free space back, remove what is long over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app import store_location
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.store.sqlite import restore as sqlite_restore
from phaseline.use_cases.lookup import installed_packages
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.maintenance import Compacted, Purged, RestoredStore, StoreFinding
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports import Store


@frozen
class CheckedStore:
    """A store and everything in it that does not fit together; empty: it is sound."""

    url: str
    findings: Sequence[StoreFinding]


@frozen
class Saved:
    """A copy of the store."""

    file: str
    size_bytes: int


@frozen
class Released:
    """Ids of executions that waited since the store was restored and may go on now, oldest first."""

    executions: Sequence[str]


@frozen
class Purge:
    """What was removed, or would be: ids of the executions, oldest first. ``removed`` None: nothing was touched."""

    before_at: int
    executions: Sequence[str]
    removed: Purged | None = None


def check(ctx: RequestContext) -> CheckedStore:
    """Read everything and compare; nothing is changed, and engines go on."""
    return CheckedStore(ctx.settings.store_url, ctx.store.check())


def backup(ctx: RequestContext, file: str) -> Saved:
    """Copy the store as it is at this moment into a new file. Raises: PL-S006 if it exists or cannot be written."""
    path = Path(file).expanduser().absolute()
    return Saved(str(path), ctx.store.backup(str(path)))


def restore(ctx: RequestContext, source: str) -> RestoredStore:
    """Put a backup in the place of the store, which is kept beside it; what was open at the backup waits for ``go_on``.

    Raises: PL-S014 for a file that is no backup, PL-S004 and PL-S005 while others use the store, PL-S008 for one in memory.
    """
    path = store_location.store_file(ctx.settings.store_url)
    if path is None:
        text = "a store in memory cannot be restored: it is gone when its command ends"
        raise problem_error("PL-S008", text, "Name a file with --store sqlite:///PATH.")
    ctx.app.close()
    return sqlite_restore.restore(str(Path(source).expanduser().resolve()), str(path.resolve()), ctx.clock.now())


def go_on(ctx: RequestContext) -> Released:
    """Let what was open when the store was copied go on, be canceled or be decided about."""
    rows = ctx.store.incarnations.go_on(ctx.actor, ctx.clock.now())
    return Released([row.id for row in rows])


def compact(ctx: RequestContext) -> Compacted:
    """Give free space back to the operating system."""
    return ctx.store.compact()


def purge(ctx: RequestContext, older_ms: int, *, deployment: str | None = None, dry_run: bool = False) -> Purge:
    """Remove executions that ended longer ago than this, of one deployment or of all, with everything about them.

    Of a deployment that is there its last ``install`` stays, and the last one that completed. ``dry_run`` only says
    which would go.
    """
    store = ctx.store
    before = ctx.clock.now() - older_ms
    number = find_deployment(store, deployment).number if deployment else None
    going = [row.id for row in old_executions(store, before, number)]
    if dry_run:
        return Purge(before, going)
    removed = store.purge(before, deployment=number)
    if store.has_packages:
        installed_packages.collect(ctx)  # files of packages that only what is gone could have gone on with
    return Purge(before, [id for id in going if store.execution(id) is None], removed)


def old_executions(store: Store, before: int, deployment: int | None) -> list[ExecutionRow]:
    """Executions that a purge would remove now, by the rule of ``ports.Store.purge``."""
    rows = store.executions(deployment)
    kept = _last_installs(rows, {row.number for row in store.deployments()})
    kept |= {request.execution for request in store.requests()}
    going = [row for row in rows if row.status.is_ended and row.ended_at < before and row.number not in kept]
    has_open_batches = bool(store.batches(only_open=True))
    return [row for row in going if not (has_open_batches and store.batches(execution=row.number, only_open=True))]


def _last_installs(rows: Sequence[ExecutionRow], living: set[int]) -> set[int]:
    """Of each deployment that is there the numbers of its last install, and of the last one that completed."""
    last: dict[tuple[int, bool], int] = {}
    for row in rows:
        if row.request.workflow == "install" and row.deployment in living:
            last[row.deployment, False] = row.number
            if row.status is ExecutionStatus.COMPLETED:
                last[row.deployment, True] = row.number
    return set(last.values())
