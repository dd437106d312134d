"""Problems of a store, each with a fix; those of one database are beside its store."""

from __future__ import annotations

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.rows import ExecutionRow

GO_ON = "phaseline store restore --go-on"


class Refusal:
    """Template of a problem: code, message and fix. ``{0}`` is the subject, ``{1}`` and so on the other arguments."""

    __slots__ = ("_code", "_mend", "_message")

    def __init__(self, code: str, message: str, mend: str) -> None:
        """``mend``: how to fix the problem, as one sentence with the command."""
        self._code, self._message, self._mend = code, message, mend

    def __call__(self, subject: str = "", *words: object) -> ProblemsError:
        """Make the problem for its ``subject``: the path of the store or the name of a deployment."""
        message, mend = self._message.format(subject, *words), self._mend.format(subject, *words)
        return problem_error(self._code, message, mend, subject=subject)


def unwritable(reason: str, mend: str) -> Refusal:
    """Return the template of PL-S005 for a reason why the store cannot be written."""
    return Refusal("PL-S005", f"the store cannot be written: {reason}", mend)


cannot_open = Refusal(
    "PL-S001",
    "the store cannot be opened: {1}",
    "check that the folder exists and is yours, or name another store with PHASELINE_STORE_URL",
)
not_a_store = Refusal(
    "PL-S001",
    "the file is not a Phaseline store, or its beginning is damaged",
    "name another file with PHASELINE_STORE_URL; this file was left unchanged",
)
newer = Refusal(
    "PL-S002",
    "the store has schema {1}, this version of Phaseline knows schemas up to {2}",
    "use the newer Phaseline that wrote it, or another store",
)
damaged = Refusal(
    "PL-S003",
    "the store is damaged: {1}",
    "restore the file from a backup, or save what is left with `sqlite3 FILE .recover`",
)
owned = Refusal("PL-S004", "{1} owns the store", "wait until it has ended, or stop it; reading is possible meanwhile")
taken_over = Refusal(
    "PL-S004",
    "another process took over the store (epoch {2}; this one had {1}), so nothing more is written here",
    "follow the execution in the process that owns the store now",
)
"""Problem of an engine that is no longer the owner, because another process has become it; its turn was not written."""
lease_lost = Refusal(
    "PL-S004",
    "this process may no longer own the store: its lease has run out, so nothing more is written here",
    "see which process owns the store now: phaseline engine status; if none does: phaseline executions resume",
)
"""Problem of an engine that could not renew its lease in time, or whose store was replaced."""
older = unwritable(
    "it has schema {1} and must be brought to schema {2} first",
    "wait until the process that owns it has ended, then try again",
)
older_read_only = unwritable(
    "it has schema {1} and must be brought to schema {2} first, and it is read-only",
    "copy it to where you may write, and use that: cp {0} COPY",
)
in_use = unwritable("other processes have it open", "end them, such as: phaseline engine stop; then try again")
cannot_lock = unwritable("its lock file cannot be written ({1})", "give yourself the right to write the folder")
cannot_copy = Refusal(
    "PL-S006",
    "the copy of the store cannot be written: {1}",
    "name a new file in a folder that is yours and has room for it",
)
nowhere = Refusal(
    "PL-S007",
    "there is no store at this path",
    "name yours with --store sqlite:///PATH or PHASELINE_STORE_URL; if there is none yet, the first install makes "
    "it: phaseline install blueprint.yaml, or the first resources: phaseline resources apply nodes.rec -d CLUSTER",
)
name_taken = Refusal(
    "PL-S010",
    "a deployment named {0} exists",
    "choose another name with -d, or remove it first: phaseline deployments delete {0}",
)
too_many_states = Refusal(
    "PL-S011",
    "the resources of one deployment would go through {1} different states, the limit is {2}",
    "put resources of types with other state paths into a cluster of their own",
)
_held = Refusal(
    "PL-S013",
    "the execution {1} of the deployment '{0}' was open when the store was copied: it waits since the restore",
    f"look at the present state of its machines, then continue or cancel it: {GO_ON}",
)
cannot_restore = Refusal(
    "PL-S014",
    "the store cannot be restored from this file: {1}",
    "name a file that was written by: phaseline store backup FILE",
)
_ELSEWHERE = "name an empty database or a new file; to replace a store by a backup: phaseline store restore FILE"
occupied = Refusal("PL-S017", "the store cannot be copied: there is a store already", _ELSEWHERE)
same_store = Refusal("PL-S017", "the store cannot be copied: it is the same store, or a copy of it", _ELSEWHERE)
changed_meanwhile = Refusal(
    "PL-S017",
    "the store cannot be copied: other commands changed it meanwhile, so the copy would lack something",
    "end the commands that use the store, then repeat the copy",
)
copied_wrongly = Refusal(
    "PL-S017",
    "the store cannot be copied: {1}",
    "check the store that is copied: phaseline store check; then repeat the copy",
)
gone = Refusal(
    "PL-S016",
    "the store is gone: its file was removed, moved or replaced",
    "put the file back, or restore a backup: phaseline store restore FILE; this command stores nothing more",
)
"""Problem of a store whose file was removed, moved or replaced while it was open."""
deleted = Refusal(
    "PL-C010", "the deployment '{0}' was deleted", "install it again: phaseline install blueprint.yaml -d {0}"
)
_busy = Refusal(
    "PL-C016",
    "the execution {1} of the deployment '{0}' has not ended",
    "{2}; or end it: phaseline executions cancel {1}",
)
_reopening = Refusal(
    "PL-C016",
    "the execution {1} of the deployment '{0}' is about to continue: a retry was requested",
    "follow it: phaseline executions follow {1}",
)
blueprint_gone = Refusal(
    "PL-C054",
    "a stored blueprint that this needs was deleted meanwhile",
    "upload it again, then repeat this command: phaseline blueprints list",
)
package_gone = Refusal(
    "PL-F062",
    "a plugin package that this needs was removed or replaced meanwhile",
    "list the packages, then repeat this command: phaseline plugins list",
)


def unknown_text(error: UnicodeEncodeError) -> ProblemsError:
    """Return PL-C012 for a name with a character that no stored text can have, so nothing has this name."""
    name = str(error.object).encode("utf-8", "replace").decode()
    return problem_error(
        "PL-C012", f"the name '{name}' is invalid: it contains a broken character", "type the name again"
    )


def copy_notice(path: str, cause: str, waiting: int) -> str:
    """Return the notice that the store at ``path`` counts as restored because of ``cause``.

    ``waiting`` is the number of executions that were open and therefore wait for a user.
    """
    text = (
        f"The store {path} counts as restored: {cause}. New work has client tokens of its own, so that no cloud "
        "takes it for work of the former store"
    )
    return f"{text}. {what_waits(waiting)}" if waiting else text


def what_waits(count: int) -> str:
    """Return a text with the number of executions that wait since a restore and the command that continues them."""
    them = "executions that were open wait" if count > 1 else "execution that was open waits"
    return f"{count} {them}; look at the present state of their machines, then: {GO_ON}"


def held(row: ExecutionRow) -> ProblemsError:
    """Return PL-S013: the execution was open at the time of the backup and waits since the restore."""
    return _held(row.deployment_name, row.id)


def busy(row: ExecutionRow) -> ProblemsError:
    """Return PL-C016 naming the open execution that prevents another one of its deployment (decision 4)."""
    if row.status is ExecutionStatus.ATTENTION:
        way = f"decide about its unsure calls: phaseline executions retry {row.id}, or executions complete {row.id}"
    else:
        way = f"continue it: phaseline executions resume {row.id}"
    return _busy(row.deployment_name, row.id, way)


def reopening(row: ExecutionRow) -> ProblemsError:
    """Return PL-C016 naming the ended execution that was requested to continue."""
    return _reopening(row.deployment_name, row.id)
