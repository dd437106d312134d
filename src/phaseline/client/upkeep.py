"""The methods ``client.engine``, ``client.store``, ``client.records`` and ``client.completion``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun, hear_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.embedded.engine_commands import EngineRun, EngineStatus, StoppedEngine
    from phaseline.embedded.run_execution import LeaveRequest
    from phaseline.model.rows.maintenance import Compacted, CopiedStore, RestoredStore, StoreVersion
    from phaseline.use_cases.commands.maintenance import CheckedStore, Released, Saved
    from phaseline.use_cases.loading.record_files import EvaluatedRecord, FormattedFile
    from phaseline.use_cases.tools.completion import Named


class EngineNoun(Noun):
    """The engine: the process that owns the store and runs executions."""

    def run(
        self,
        *,
        until_idle: bool = True,
        awaits_approvals: bool = False,
        due: bool = False,
        begun: Callable[[LeaveRequest], None] = hear_nothing,
        say: Callable[[str], None] = hear_nothing,
    ) -> EngineRun:
        """Run the engine in this process until all remaining work waits for a person.

        ``until_idle`` False: run until a request to stop. ``awaits_approvals``: continue while an approval is pending.
        ``due``: start what schedules have due now, then as ``until_idle``; leave if another engine runs. ``begun``: receives an object that stops the engine when called, for example by a signal handler. ``say``:
        receives messages about the engine's work.
        """
        return self._call(ops.RUN_ENGINE, until_idle=until_idle, stays=awaits_approvals, due=due, begun=begun, say=say)

    def status(self) -> EngineStatus:
        """Return the process that owns the store, and the open executions."""
        return self._call(ops.ENGINE_STATUS)

    def stop(self, *, drain: float | None = None) -> StoppedEngine:
        """Stop the engine when its running calls have returned, at the latest after ``drain`` seconds."""
        return self._call(ops.STOP_ENGINE, drain_s=drain)


class StoreNoun(Noun):
    """The store as a whole. Except for ``restore`` and ``copy``, all methods work while engines run."""

    def check(self) -> CheckedStore:
        """Read the whole store and check that its parts are consistent."""
        return self._call(ops.CHECK_STORE)

    def backup(self, file: str) -> Saved:
        """Copy the present state of the store into a new file, and check the copy."""
        return self._call(ops.BACK_UP_STORE, file=file)

    def restore(self, file: str) -> RestoredStore:
        """Replace the store with a backup, and keep the former store beside it, or in another schema of its database.

        Executions that were open when the backup was made wait until ``go_on`` is called. ``file`` can also be the
        store's own file or URL, if it was set back by other means, such as the tools of a database server.
        """
        return self._call(ops.RESTORE_STORE, source=file)

    def go_on(self) -> Released:
        """Release the executions that wait because the store was restored."""
        return self._call(ops.GO_ON_AFTER_RESTORE)

    def copy(self, source: str, target: str) -> CopiedStore:
        """Copy the store at the URL ``source`` to the URL ``target``, where no store is yet.

        Neither needs to be the store of this client. No engine may run on them. The copy counts as restored: its open
        executions wait until ``go_on`` is called on it.
        """
        return self._call(ops.COPY_STORE, source=source, target=target)

    def upgrade(self, *, check: bool = False, status: bool = False) -> StoreVersion:
        """Bring the store's tables to the version that this program knows.

        With ``check`` or ``status`` nothing changes, and the present version is returned.
        """
        return self._call(ops.UPGRADE_STORE, check=check or status)

    def compact(self) -> Compacted:
        """Return free space in the store's file to the operating system, for example after a purge."""
        return self._call(ops.COMPACT_STORE)


class RecordsNoun(Noun):
    """Records in files, and expressions that are evaluated on records."""

    def format(self, *files: str, sort: bool = False) -> Sequence[FormattedFile]:
        """Return the records in files as canonical text and as JSON. ``sort``: sort attributes by name."""
        return self._call(ops.FORMAT_RECORDS, files=files, is_sorted=sort)

    def eval(
        self, expression: str, *, records: Sequence[str] = (), attributes: Mapping[str, str] | None = None
    ) -> Sequence[EvaluatedRecord]:
        """Return the value of an expression for every record in the files ``records``.

        Without files, return the value for one record with these ``attributes``.
        """
        return self._call(
            ops.EVALUATE_RECORDS, expression=expression, files=records, attributes=attributes, now=time.time()
        )


class CompletionNoun(Noun):
    """Names for shell completion."""

    def names(self, kind: Named, beginning: str = "") -> Sequence[str]:
        """Return the names of this kind that begin with ``beginning``.

        The result is empty if there is no store, or if the store must be upgraded first.
        """
        return self._call(ops.OFFER_NAMES, kind=kind, beginning=beginning)
