"""Check this machine, its settings and its store, and show a remedy for each problem. The checks change nothing."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.app import settings_schema, store_location
from phaseline.app.store_location import store_file
from phaseline.calls.threads import process_groups
from phaseline.catalog.code import search_path as code_search_path
from phaseline.catalog.phases import plugin_set
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment import code_location
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows import incarnations
from phaseline.run.executors import local_executor
from phaseline.store.database import schema
from phaseline.store.sql import errors
from phaseline.store.sqlite import mounts
from phaseline.store.sqlite.database_file import size_of
from phaseline.use_cases.lookup import installed_packages, secret_settings
from phaseline.use_cases.lookup.blocking_executions import goes_on
from phaseline.use_cases.prepare import hook_differences as prepare_hook_differences
from phaseline.use_cases.queries import deployments
from phaseline.use_cases.queries.unresponsive_owner import silence
from phaseline.vault import master_keys

if TYPE_CHECKING:
    from phaseline.app.app_context import AppContext, RequestContext
    from phaseline.app.settings import Settings
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore

Level = Literal["ok", "warn", "fail"]
PYTHON = (3, 11)
SQLITE = (3, 35, 0)
"""Oldest version of SQLite that supports every statement in use."""
LITTLE_SPACE = 1024**3
"""Free space in bytes below which a large execution may fill the disk."""
NO_SPACE = 100 * 1024**2
"""Free space in bytes below which even the next turn of the engine may not be stored."""
LARGE_LOG = 256 * 1024**2
"""Size in bytes from which a write-ahead log is reported.

It grows this large if a process keeps a read transaction open for long, or if the last engine was killed.
"""
SKEW_MS = 60_000
"""Time in ms by which a stored time may be later than the clock; a larger difference means that a clock was set back."""
HEAD_BYTES = 100
"""Size of SQLite's file header. Its byte 60 begins the schema number, its byte 68 the application number."""
SHOWN = 10
"""Number of findings of one kind that are shown."""
REMOTE = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs")
"""File systems with unreliable locks."""


@frozen
class Check:
    """Result of one check. ``mend`` is the remedy, or empty if nothing is wrong."""

    name: str
    level: Level
    text: str
    mend: str = ""


def examine(load: Callable[[], Settings], open_app: Callable[[Settings], AppContext]) -> Sequence[Check]:
    """Make all checks and return the results in a useful reading order. Checks that cannot be made are left out.

    ``load`` reads the settings and may raise ``ProblemsError``. ``open_app`` creates the context of a process for them;
    it is closed again.
    """
    found = [*_python(), *_sqlite(), *leftover_folders(Path(tempfile.gettempdir()))]
    try:
        settings = load()
    except ProblemsError as error:
        told = error.problems[:SHOWN]
        return [*found, *(Check("settings", "fail", str(problem), problem.mend) for problem in told)]
    found += [*_variables(), *_folders(settings.plugin_folders), *_log(settings)]
    if store_location.is_database(settings.store_url):
        return [*found, *_in_store(settings, open_app, (_server, *STORE_CHECKS))]
    file = store_file(settings.store_url)
    if file is None:
        return [*found, Check("store", "warn", f"{settings.store_url} is in memory only", "set store.url to a file")]
    if not file.exists():
        return [
            *found,
            *_space(file),
            Check("store", "ok", f"{file} is not there yet; the first install makes it"),
        ]
    for check in FILE_CHECKS:
        found += check(file)
    older = older_schema(file)
    if older:
        text = f"{file} has schema {older}, an older one"
        return [*found, Check("store", "warn", text, "the next command upgrades it, and keeps a copy first")]
    return [*found, *_in_store(settings, open_app, STORE_CHECKS)]


def _in_store(
    settings: Settings,
    open_app: Callable[[Settings], AppContext],
    checks: Sequence[Callable[[RequestContext], Iterable[Check]]],
) -> list[Check]:
    """Open the store and return the results of checks of it; a problem ends them with a failed check."""
    found: list[Check] = []
    app = open_app(settings)
    try:
        ctx = app.request()
        for examine_store in checks:
            found += examine_store(ctx)
    except ProblemsError as error:
        found += [Check("store", "fail", str(problem), problem.mend) for problem in error.problems]
    finally:
        app.close()
    return found


def is_sound(checks: Sequence[Check]) -> bool:
    """Return True if no check fails; warnings do not count."""
    return all(check.level != "fail" for check in checks)


# -- the machine --------------------------------------------------------------------------------------------------


def _python() -> Iterator[Check]:
    text = f"{platform.python_version()} at {sys.executable}"
    is_old = sys.version_info[:2] < PYTHON
    yield Check("python", "fail" if is_old else "ok", text, "use Python 3.11 or newer" if is_old else "")


def _sqlite() -> Iterator[Check]:
    is_old = sqlite3.sqlite_version_info < SQLITE
    mend = "use a Python with SQLite 3.35 or newer" if is_old else ""
    yield Check("sqlite", "fail" if is_old else "ok", sqlite3.sqlite_version, mend)


def leftover_folders(above: Path) -> Iterator[Check]:
    """Warn of temporary folders in the folder ``above`` that killed processes of this user left."""
    left = []
    for folder in above.glob("phaseline-*-*"):
        number = folder.name.split("-")[1]
        if number.isdigit() and not process_groups.is_alive(int(number)) and _is_mine(folder):
            left.append(folder)
    if left:
        text = f"{len(left)} temporary folders of processes that are gone, such as {left[0]}"
        yield Check("folders", "warn", text, "the next engine removes them; or: rm -r " + str(left[0]))


def _is_mine(path: Path) -> bool:
    try:
        return path.is_dir() and path.stat().st_uid == os.getuid()
    except OSError:
        return False


# -- the settings -------------------------------------------------------------------------------------------------


def _variables() -> Iterator[Check]:
    """Warn of environment variables that look like settings but are none.

    No command refuses them, because they may belong to another program.
    """
    known = [*(setting.variable for setting in settings_schema.SETTINGS), master_keys.VARIABLE]
    others = sorted(
        name for name in os.environ if name.startswith("PHASELINE_") and name not in (*known, process_groups.MARK)
    )
    for name in others[:SHOWN]:
        hint = did_you_mean(name, known) or "see docs/settings.md"
        yield Check("settings", "warn", f"{name} in the environment sets nothing", f"correct or unset it; {hint}")
    if not others:
        yield Check("settings", "ok", "every key is known")


def _holds_code(folder: str) -> bool:
    """Return True if the folder contains Python modules (also of a source distribution), record files or packages."""
    forms = ("*.py", "*/__init__.py", "*.rec", "*.zip", "*/lib/python")
    tops = (folder, *code_search_path.search_path(code_location.CodeLocation("", (folder,))))
    return any(True for top in tops for form in forms for _ in Path(top).glob(form))


def _folders(folders: Sequence[str]) -> Iterator[Check]:
    for folder in folders:
        path = Path(folder)
        if not path.is_dir():
            yield Check("plugins", "fail", f"the folder {folder} does not exist", "correct the setting plugins.path")
        elif not os.access(path, os.R_OK | os.X_OK):
            yield Check("plugins", "fail", f"the folder {folder} cannot be read", f"chmod u+rx {folder}")
        elif not _holds_code(folder):
            mend = "put the plugin there, or correct the setting plugins.path"
            yield Check("plugins", "warn", f"the folder {folder} has no module of a plugin", mend)
        elif refused := _refused(folder):
            message = f"{len(refused):,} of the plugins in {folder} are refused, {refused[0]} for one"
            yield Check("plugins", "warn", message, f"phaseline plugins check {folder}")
        else:
            yield Check("plugins", "ok", folder)


def _refused(folder: str) -> list[str]:
    """Return the files of plugins with phases in the folder that are refused because of errors."""
    return [
        verdict.package.place
        for verdict in plugin_set.PhasePlugins([folder]).load().verdicts
        if verdict.errors and Path(verdict.package.place).is_relative_to(folder)
    ]


def _log(settings: Settings) -> Iterator[Check]:
    if not settings.log_file:
        return
    path = Path(settings.log_file)
    spot = path if path.exists() else next(parent for parent in path.parents if parent.exists())
    if path.is_dir() or not os.access(spot, os.W_OK):
        yield Check("log", "warn", f"{path} cannot be written", "correct the setting log.file, or its permissions")
    else:
        yield Check("log", "ok", str(path))


# -- the file of the store ----------------------------------------------------------------------------------------


def older_schema(file: Path) -> int:
    """Return the schema number in the file's header if it is older than the present one, otherwise 0."""
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return 0
    found, application = int.from_bytes(head[60:64], "big"), int.from_bytes(head[68:72], "big")
    return found if application == schema.APPLICATION_ID and 0 < found < schema.SCHEMA_VERSION else 0


def _file_system(file: Path) -> Iterator[Check]:
    kind = mounts.kind_of_file_system(file)
    if kind in REMOTE:
        text = f"{file} is on {kind}, whose locks are not reliable"
        yield Check("store", "fail", text, "move the store to a local disk and set store.url")


def _permissions(file: Path) -> Iterator[Check]:
    there = [path for path in (file, Path(f"{file}-wal"), Path(f"{file}-shm")) if path.exists()]
    open_to_others = [path for path in there if path.stat().st_mode & 0o077]
    if open_to_others:
        names = shlex.join(map(str, open_to_others))
        text = f"others may read {names}; a store holds inputs and runtime properties"
        yield Check("permissions", "warn", text, f"chmod 600 {names}")
    shut = [path for path in there if not os.access(path, os.R_OK | os.W_OK)]
    folder = [] if os.access(file.parent, os.W_OK | os.X_OK) else [file.parent]
    if shut or folder:
        yield _shut(shut, folder)
    elif not open_to_others:
        yield Check("permissions", "ok", "0600: only you may read the store")


def _shut(files: Sequence[Path], folder: Sequence[Path]) -> Check:
    """Return the failed check of files, or of their ``folder``, that cannot be written, with the command to repair it.

    If another user owns one of them, the command is for root, otherwise for the user.
    """
    names = shlex.join(map(str, (*files, *folder)))
    if any(path.stat().st_uid != os.getuid() for path in (*files, *folder)):
        text, mend = "another user owns it; it can only be read", f"chown {os.getuid()} {names}"
    else:
        ways = [f"chmod u+rw {shlex.join(map(str, files))}"] if files else []
        ways += [f"chmod u+rwx {shlex.join(map(str, folder))}"] if folder else []
        text, mend = "it can only be read", " && ".join(ways)
    return Check("permissions", "fail", f"{names} cannot be written: {text}", mend)


def _space(file: Path) -> Iterator[Check]:
    there = next(place for place in file.parents if place.exists())
    free = shutil.disk_usage(there).free
    level: Level = "fail" if free < NO_SPACE else "warn" if free < LITTLE_SPACE else "ok"
    mend = (
        "make room: phaseline executions purge --older 30d, then phaseline store compact; or set retention.executions"
    )
    mend = mend if level != "ok" else ""
    yield Check("disk", level, f"{free / 1024**3:,.1f} GiB free in {there}", mend)


def _size_of_log(file: Path) -> Iterator[Check]:
    count = size_of(Path(f"{file}-wal"))
    if count > LARGE_LOG:
        text = f"the write-ahead log has {count // 1024**2:,} MiB: a process has been reading for long, or an engine was killed"
        yield Check("log size", "warn", text, "phaseline store compact")


FILE_CHECKS = (_file_system, _permissions, _space, _size_of_log)
"""Checks of the store's file, made before it is opened."""


# -- the data in the store ----------------------------------------------------------------------------------------


def _integrity(ctx: RequestContext) -> Iterator[Check]:
    findings = ctx.app.upkeep.check()
    mend = "restore a backup; the store is kept as it is now: phaseline store restore FILE"
    for finding in findings[:SHOWN]:
        yield Check("store", "fail", str(finding), mend)
    if not findings:
        url = ctx.settings.store_url
        yield Check("store", "ok", f"{store_file(url) or store_location.shown_url(url)} is sound")


def _server(ctx: RequestContext) -> Iterator[Check]:
    """Examine the database server of the store (ST14)."""
    for level, name, text, mend in ctx.app.upkeep.server_checks():
        yield Check(name, level, text, mend)


def _engine(ctx: RequestContext) -> Iterator[Check]:
    store = ctx.store
    owner = store.owner()
    last = store.incarnations.held()
    living = store.executions(only_open=True)
    held = sum(row.number <= last for row in living)
    if held:
        text = f"{held} execution{'s wait' if held != 1 else ' waits'} since the store was restored"
        yield Check("restore", "warn", text, errors.GO_ON)
    living = [row for row in living if row.number > last]
    if owner is not None:
        silent = silence(store, ctx.clock.now(), owner)
        yield Check("engine", "ok", str(owner)) if silent is None else Check("engine", "fail", silent.text, silent.mend)
        return
    idle = [row for row in living if goes_on(store, row)]
    if idle:
        text = f"no process runs {len(idle)} open execution{'s' * (len(idle) != 1)}"
        yield Check("engine", "warn", text, "phaseline engine run")
    for row in [row for row in living if row not in idle][:SHOWN]:
        yield Check("engine", "warn", f"{row.id} waits for a person", f"phaseline executions show {row.id}")
    if not living:
        yield Check("engine", "ok", "none, and no execution is open")
    left = _leftover_processes(store)
    if left:
        text = f"processes {', '.join(map(str, left[:SHOWN]))} belong to calls of an engine that died"
        yield Check("processes", "warn", text, "the next engine ends them: phaseline engine run")


def _leftover_processes(store: TenantStore) -> list[int]:
    """Return the ids of processes whose calls have not returned.

    Processes that a finished call left running are not included, because they are intended.
    """
    rows = store.batches(only_open=True)
    return (
        sorted(
            process_groups.marked(
                local_executor.unanswered(incarnations.Names(store.identity(), store.incarnations.all()), rows)
            )
        )
        if rows
        else []
    )


def _code(ctx: RequestContext) -> Iterator[Check]:
    """Warn of deployments whose code was moved away, so that they can neither continue nor be uninstalled."""
    store = ctx.store
    is_there = cache(lambda folder: Path(folder).is_dir())  # most deployments share theirs
    for row in store.deployments():
        for folder in (row.code.blueprint_folder, *row.code.plugin_folders):
            if folder and not is_there(folder) and not _is_laid_out(store, row, folder):
                text = f"'{row.name}' finds its code in {folder}, which does not exist"
                yield Check("code", "warn", text, f"put the folder back before anything is done with '{row.name}'")


def _is_laid_out(store: TenantStore, row: DeploymentRow, folder: str) -> bool:
    """Return True if the folder belongs to a stored blueprint: its files are written again when they are needed."""
    return folder == row.code.blueprint_folder and "" in store.stored_blueprints.of_deployment(row.number)


def _unreadable(ctx: RequestContext) -> Iterator[Check]:
    """Report unreadable deployments, and latest executions that failed because of unreadable stored data."""
    store = ctx.store
    flaws = {row.number: (row.name, flaw) for row in store.deployments() if (flaw := deployments.unread(store, row))}
    for name, flaw in list(flaws.values())[:SHOWN]:
        text = f"the deployment '{name}' cannot be read: {flaw}"
        yield Check("deployments", "warn", text, f"phaseline deployments delete {name} --force")
    living = [row.number for row in store.deployments() if row.number not in flaws]
    latest = [one.executions[-1] for one in store.listings.summaries(living).values() if one.executions]
    found = [row for row in latest if row.request.flaw or row.reason.startswith("PL-S012")]
    for row in found[:SHOWN]:
        text = row.reason or f"the execution {row.id} cannot be continued: {row.request.flaw}"
        yield Check(
            "executions", "warn", text, f"start again from the beginning: phaseline uninstall -d {row.deployment_name}"
        )


def _hooks(ctx: RequestContext) -> Iterator[Check]:
    """Report open executions that call other hook classes than the present settings contain."""
    for found in list(prepare_hook_differences.hook_differences(ctx))[:SHOWN]:
        yield Check("hooks", "warn", str(found), "let all users of the store use one settings file; see docs/hooks.md")


def _secrets(ctx: RequestContext) -> Iterator[Check]:
    """Check that the master key decrypts the keys of secrets; yield nothing if there are no secrets."""
    try:
        count = ctx.vault.try_keys()
    except ProblemsError as error:
        for problem in error.problems:
            yield Check("secrets", "fail", problem.message, problem.mend)
        return
    if count:
        keys = f"{count} key{'s' * (count != 1)}"
        yield Check("secrets", "ok", f"{keys} of secrets can be opened; the master key is in {ctx.vault.key_place}")


def _settings_in_clear(ctx: RequestContext) -> Iterator[Check]:
    """Report passwords of packages that are stored in clear text. Enabling the package again encrypts them."""
    if not ctx.store.has_packages:
        return

    by_number = {row.number: row for row in ctx.store.packages.all()}
    for deployment in ctx.store.deployments():
        for use in ctx.store.packages.uses(deployment.number):
            row = by_number[use.package]
            names = secret_settings.in_clear(installed_packages.read_stored(ctx, row).form, use.settings)
            if names:
                text = f"{', '.join(names)} of {row} for '{deployment.name}' is not encrypted in the store"
                mend = f"encrypt it: phaseline deployments plugins enable {deployment.name} {row}; then: phaseline store compact"
                yield Check("secrets", "warn", text, mend)


def _schedules(ctx: RequestContext) -> Iterator[Check]:
    """Warn if no process is there to start what schedules have due (SC5)."""
    store = ctx.store
    if not store.has_schedules or not any(row.is_enabled for row in store.schedules.all()):
        return
    if store.owner() is not None:
        yield Check("schedules", "ok", "the engine starts them")
        return
    missed = store.schedules.missed()
    text = "no engine is there to start them" + (f"; they have missed {missed:,} times" if missed else "")
    ways = "phaseline engine run; or a timer that calls: phaseline engine run --due; units: phaseline schedules timer"
    yield Check("schedules", "warn", text, ways)


def _clock(ctx: RequestContext) -> Iterator[Check]:
    store, now = ctx.store, ctx.clock.now()
    rows = store.executions()
    latest = max((max(row.created_at, row.started_at, row.ended_at) for row in rows), default=0)
    latest = max(latest, max((row.started_at for row in store.batches(only_open=True)), default=0))
    if latest > now + SKEW_MS:
        text = f"the store knows a time that is {(latest - now) // 1000:,} s ahead: the clock was set back"
        yield Check("clock", "warn", text, "correct the clock; due times wait until it has caught up")
    else:
        yield Check("clock", "ok", "no time in the store is in the future")


STORE_CHECKS = (_integrity, _engine, _code, _unreadable, _hooks, _secrets, _settings_in_clear, _schedules, _clock)
"""Checks of the data in the store, in the order in which they are shown."""
