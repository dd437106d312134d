"""What SQLite and the operating system refuse, as Problems that say what to do."""

from __future__ import annotations

import os
import sqlite3

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.rows import ExecutionRow

_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_FORMAT", "SQLITE_MISMATCH"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"}
GO_ON = "phaseline store restore --go-on"
_READ_ONLY = {"SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"}


def is_read_only(error: sqlite3.Error) -> bool:
    """Whether the file cannot be written, though it may be read."""
    return _kind(error) in _READ_ONLY


def needs_log(error: sqlite3.Error) -> bool:
    """Whether SQLite could not make the files of its log, or lock them."""
    return _kind(error) in {*_READ_ONLY, "SQLITE_CANTOPEN"}


def is_damage(error: sqlite3.Error) -> bool:
    """Whether pages of the file do not fit together."""
    return _kind(error) in _DAMAGED


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection has the file locked at this moment."""
    return _kind(error) in _BUSY


def as_problem(error: sqlite3.Error, path: str) -> ProblemsError:
    """The Problem that tells a user what the database met."""
    kind = _kind(error)
    if kind == "SQLITE_NOTADB":
        return not_a_store(path)
    if kind in _DAMAGED:
        return damaged(path, str(error))
    if kind in _BUSY:
        return _cannot_write(path, "another program has locked it", "End that program, then try again.")
    if kind == "SQLITE_FULL":
        return _cannot_write(path, "the disk is full", "Make room on the disk, then resume; what was stored is intact.")
    if _name(error) == "SQLITE_READONLY_DBMOVED":
        return gone(path)
    if kind in _READ_ONLY:
        return _cannot_write(path, "it is read-only", "Give yourself the right to write the file and its folder.")
    if kind == "SQLITE_CANTOPEN":
        return _unopened(path, str(error))
    if kind == "SQLITE_IOERR":
        return _cannot_write(
            path,
            f"the disk refuses ({_name(error)})",
            "Look at the disk and its space, then resume; what was stored is intact.",
        )
    return problem_error(
        "PL-S001", f"The store cannot be used: {error}", "Check the file and its folder.", subject=path
    )


def _unopened(path: str, reason: str) -> ProblemsError:
    """What SQLite could not open: the log of a file that may be read, or the file itself."""
    if os.path.isfile(path) and os.access(path, os.R_OK):  # noqa: PTH113 - says no of what we may not look at
        return _cannot_write(
            path, "its folder is read-only", "Give yourself the right to write the file and its folder."
        )
    return cannot_open(path, reason)


def gone(path: str) -> ProblemsError:
    """PL-S016 for a store that was removed, moved or replaced while it was open."""
    return problem_error(
        "PL-S016",
        "The store is gone: its file was removed or moved, or another one lies in its place",
        "Put the file back, or restore a backup: phaseline store restore FILE. Nothing more is stored by this command.",
        subject=path,
    )


def older_read_only(path: str, found: int, known: int) -> ProblemsError:
    """PL-S005 for a store that must be upgraded, where nobody may write."""
    return _cannot_write(
        path,
        f"it has schema {found} and must be brought to schema {known} first, and it is read-only",
        f"Copy it to where you may write, and use that: cp {path} COPY",
    )


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", None) or "")


def _kind(error: sqlite3.Error) -> str:
    """The first word of SQLite's extended code, such as SQLITE_IOERR of SQLITE_IOERR_FSYNC."""
    return "_".join(_name(error).split("_")[:2])


def cannot_open(path: str, reason: str) -> ProblemsError:
    """PL-S001 with the reason the operating system gave."""
    return problem_error(
        "PL-S001",
        f"The store cannot be opened: {reason}",
        "Check that the folder exists and is yours, or name another store with PHASELINE_STORE_URL.",
        subject=path,
    )


def nowhere(path: str) -> ProblemsError:
    """PL-S007 for a path at which there is nothing; nothing was made."""
    return problem_error(
        "PL-S007",
        "There is no store at this path",
        "Name yours with --store sqlite:///PATH or PHASELINE_STORE_URL. If there is none yet, the first install makes "
        "it: phaseline install blueprint.yaml, or the first resources: phaseline resources apply nodes.rec -d CLUSTER",
        subject=path,
    )


def not_a_store(path: str) -> ProblemsError:
    """PL-S001 for a file that something else has written."""
    return problem_error(
        "PL-S001",
        "The file is not a Phaseline store, or its beginning is damaged",
        "Name another file with PHASELINE_STORE_URL; this one was left as it is.",
        subject=path,
    )


def damaged(path: str, what: str) -> ProblemsError:
    """PL-S003; the file is left as it is."""
    return problem_error(
        "PL-S003",
        f"The store is damaged: {what}",
        "Restore the file from a backup, or save what is left with `sqlite3 FILE .recover`.",
        subject=path,
    )


def unknown_text(error: UnicodeEncodeError) -> ProblemsError:
    """PL-C012 for a name with a character that no text can have: nothing in a store is called so."""
    name = str(error.object).encode("utf-8", "replace").decode()
    return problem_error("PL-C012", f"nothing is called '{name}': it holds a broken character", "Type the name again.")


def newer(path: str, found: int, known: int) -> ProblemsError:
    """PL-S002; nothing was read or written."""
    return problem_error(
        "PL-S002",
        f"The store has schema {found}, this version of Phaseline knows schemas up to {known}",
        "Use the newer Phaseline that wrote it, or another store.",
        subject=path,
    )


def older(path: str, found: int, known: int) -> ProblemsError:
    """PL-S005 for a store that waits for its migration while another process owns it."""
    return _cannot_write(
        path,
        f"it has schema {found} and must be brought to schema {known} first",
        "Wait until the process that owns it has ended, then try again.",
    )


def told_as_copy(path: str, cause: str, waiting: int) -> str:
    """That a file was noticed to be a copy, and what follows."""
    text = (
        f"The store {path} is taken as restored: {cause}. What is made from now on has client tokens of its own, so that no cloud "
        "takes it for what was made since"
    )
    return f"{text}. {what_waits(waiting)}" if waiting else text


def what_waits(count: int) -> str:
    """How many open executions wait since a restore, and what lets them go on."""
    them = "executions that were open wait" if count > 1 else "execution that was open waits"
    return f"{count} {them}; look at what became of their machines, then: {GO_ON}"


def held(row: ExecutionRow) -> ProblemsError:
    """PL-S013: the execution was open when the store was backed up, and has not been let go on since it was restored."""
    return problem_error(
        "PL-S013",
        f"the execution {row.id} of the deployment '{row.deployment_name}' was open when the store was copied: it waits since the restore",
        f"Look at what has become of its machines since, then let it go on, or be canceled: {GO_ON}",
        subject=row.deployment_name,
    )


def cannot_restore(path: str, reason: str) -> ProblemsError:
    """PL-S014; the store is as it was."""
    return problem_error(
        "PL-S014",
        f"The store cannot be restored from this file: {reason}",
        "Name a file that was written by: phaseline store backup FILE",
        subject=path,
    )


def in_use(path: str) -> ProblemsError:
    """PL-S005 while other processes have the store open that is about to be replaced."""
    return _cannot_write(
        path, "other processes have it open", "End them, such as: phaseline engine stop; then try again."
    )


def owned(path: str, owner: str) -> ProblemsError:
    """PL-S004 naming the process that owns the store."""
    return problem_error(
        "PL-S004",
        f"{owner} owns the store",
        "Wait until it has ended, or stop it; reading is possible meanwhile.",
        subject=path,
    )


def cannot_lock(path: str, reason: str) -> ProblemsError:
    """PL-S005 when the lock file cannot be made or written."""
    return _cannot_write(
        path, f"its lock file cannot be written ({reason})", "Give yourself the right to write the folder."
    )


def taken_over(path: str, mine: int, now: int) -> ProblemsError:
    """PL-S004 for an owner whose epoch has passed: nothing of the turn was written."""
    return problem_error(
        "PL-S004",
        f"Another process took over the store (epoch {now}; this one had {mine}), so nothing more is written here",
        "Follow the execution in the process that owns the store now.",
        subject=path,
    )


def name_taken(name: str) -> ProblemsError:
    """PL-S010."""
    return problem_error(
        "PL-S010",
        f"A deployment named {name} exists",
        f"Choose another name with -d, or remove it first: phaseline deployments delete {name}",
        subject=name,
    )


def too_many_states(count: int, most: int) -> ProblemsError:
    """PL-S011: the states of a deployment's resources have too many names."""
    return problem_error(
        "PL-S011",
        f"the resources of one deployment would go through {count} different states, {most} is the most",
        "Put resources of types with other state paths into a cluster of their own.",
    )


def busy(row: ExecutionRow) -> ProblemsError:
    """PL-C016 naming the execution of a deployment that has not ended (decision 4)."""
    if row.status is ExecutionStatus.ATTENTION:
        way = f"Decide about its unsure calls: phaseline executions retry {row.id}, or executions complete {row.id}"
    else:
        way = f"Let it go on: phaseline executions resume {row.id}"
    return problem_error(
        "PL-C016",
        f"the execution {row.id} of the deployment '{row.deployment_name}' has not ended",
        f"{way}. Or end it: phaseline executions cancel {row.id}",
        subject=row.deployment_name,
    )


def reopening(row: ExecutionRow) -> ProblemsError:
    """PL-C016 naming the execution that somebody has asked to go on."""
    return problem_error(
        "PL-C016",
        f"the execution {row.id} of the deployment '{row.deployment_name}' is about to go on: a retry was asked for",
        f"Let it go on: phaseline executions follow {row.id}",
        subject=row.deployment_name,
    )


def deleted(name: str) -> ProblemsError:
    """PL-C010 for a deployment that somebody has deleted meanwhile."""
    return problem_error(
        "PL-C010",
        f"the deployment '{name}' was deleted",
        f"Install it again: phaseline install blueprint.yaml -d {name}",
        subject=name,
    )


def cannot_copy(path: str, reason: str) -> ProblemsError:
    """PL-S006; nothing is left at the path that was not there before."""
    return problem_error(
        "PL-S006",
        f"The copy of the store cannot be written: {reason}",
        "Name a new file in a folder that is yours and has room for it.",
        subject=path,
    )


def _cannot_write(path: str, why: str, mend: str) -> ProblemsError:
    return problem_error("PL-S005", f"The store cannot be written: {why}", mend, subject=path)


def blueprint_gone() -> ProblemsError:
    """PL-C054 for a stored blueprint that was deleted while somebody was about to use it."""
    return problem_error(
        "PL-C054",
        "a stored blueprint that this needs was deleted meanwhile",
        "Look what there is: phaseline blueprints list. Upload it again, then repeat this.",
    )


def package_gone() -> ProblemsError:
    """PL-F062 for a package that was removed while somebody was about to use it."""
    return problem_error(
        "PL-F062",
        "a plugin package that this needs was removed or replaced meanwhile",
        "Look what there is: phaseline plugins list. Then repeat this.",
    )
