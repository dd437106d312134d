"""Results of checks, backups, space given back, and removals, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.status import size
from phaseline.cli.render.table import clean, moment, more, number, some

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import Compacted, CopiedStore, Filling, RestoredStore, StoreVersion
    from phaseline.use_cases.commands.maintenance import CheckedStore, Purge, Released, Saved

SHOWN = 50
"""Largest number of findings and executions that are listed one by one; all are counted."""


def checked_text(found: CheckedStore) -> str:
    """Return every finding of the check as text, or a line that there is none."""
    if not found.findings:
        return f"The store {found.url} is sound."
    findings = [f"  {clean(str(finding))}" for finding in found.findings[:SHOWN]]
    lines = [f"The store {found.url} is not sound:", *findings, *more(len(found.findings) - SHOWN)]
    return "\n".join([*lines, "Restore a backup; the present store is kept: phaseline store restore FILE"])


def saved_text(saved: Saved) -> str:
    """Return a text about the file of the backup."""
    return f"The store is copied to {saved.file}, {size(saved.size_bytes)}. It can be used directly: sqlite:///{saved.file}"


def restored_text(done: RestoredStore) -> str:
    """Return a text with the files of the store and of the former store, and the executions that wait."""
    lines = [f"The store {done.file} is restored. Later calls have new client tokens."]
    if done.kept:
        where = "the schema " if done.file.startswith("postgres") else ""
        lines.append(f"The previous store is kept in {where}{done.kept}")
    return "\n".join([*lines, *_waiting(done.waiting, "the work since the backup is not known here")])


def _waiting(count: int, reason: str) -> list[str]:
    """Return lines about the number of executions that wait since a restore or a copy; none for 0."""
    if not count:
        return []
    them = "open executions wait" if count > 1 else "open execution waits"
    return [f"{count} {them}: {reason}. Check the machines, then:", "  phaseline store restore --go-on"]


def copied_text(done: CopiedStore) -> str:
    """Return a text about both stores, and the executions that wait."""
    lines = [
        f"The store {done.source} is copied to {done.target}: {number(done.rows, 'row')}, each compared.",
        "Use only the copy from now on: name it in store.url. The former store is unchanged.",
    ]
    return "\n".join([*lines, *_waiting(done.waiting, "the former store may have continued")])


def upgraded_text(found: StoreVersion) -> str:
    """Return a text about the version of the store's tables."""
    if found.upgraded_from:
        first = f"The store was brought from schema {found.upgraded_from} to {found.schema}."
    elif found.is_due:
        owner = f" It is owned by {clean(found.owner)}, so wait until that has ended." if found.owner else ""
        first = (
            f"The store has schema {found.schema}; an upgrade to {found.known} is due: phaseline store upgrade.{owner}"
        )
    elif found.fillings:
        first = f"The store has schema {found.schema}; its upgrade is not finished: phaseline store upgrade."
    elif found.steps:
        first = f"The store has schema {found.schema}; its upgrade is finished."
    else:
        first = f"The store has schema {found.schema}; no upgrade is due."
    return "\n".join([first, *map(_filling_text, found.fillings)])


def _filling_text(left: Filling) -> str:
    """Return a line about how far a part of an upgrade has come."""
    by = f", last at {moment(left.at)} by {clean(left.worker)}" if left.worker else ""
    return f"  {clean(left.name)}: {left.done:,} of {left.total:,} ({left.percent} %){by}"


def released_text(done: Released) -> str:
    """Return a text with the executions that may continue now, and the commands that continue them."""
    if not done.executions:
        return "No execution waits since a restore."
    first = done.executions[0]
    return (
        f"{number(len(done.executions), 'execution')} may continue: {', '.join(done.executions[:SHOWN])}\n"
        f"Calls that were running are unsure. Continue all: phaseline engine run --until-idle. Or end one: phaseline executions cancel {first}"
    )


def compacted_text(done: Compacted) -> str:
    """Return a text about the space returned to the operating system."""
    text = f"{size(max(0, done.before - done.after))} returned: {size(done.before)} before, {size(done.after)} now."
    return text + (f"\n{size(done.left)} could not be returned: {done.reason}." if done.left and done.reason else "")


def purge_text(done: Purge) -> str:
    """Return a text about the executions that were removed, or would be."""
    count = len(done.executions)
    if not count and (done.removed is None or not any((done.removed.deployments, done.removed.requests))):
        return f"No execution to remove: none that can be removed ended before {moment(done.before_at)}."
    names = some(done.executions[:SHOWN], count)
    if done.removed is None:
        return f"{number(count, 'execution')} would be removed: {names}"
    told = done.removed
    lines = [
        f"{number(told.executions, 'execution')} removed: {names}" if count else "No execution removed.",
        f"  with {number(told.logs, 'log line')}, {number(told.events, 'event')} and {told.batches:,} calls of plugins",
    ]
    if told.deployments:
        lines.append(f"  and the last rows of {number(told.deployments, 'deleted deployment')}")
    return "\n".join([*lines, "Return the space with: phaseline store compact"])
