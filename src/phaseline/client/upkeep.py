"""The engine and the store as a whole, records in files, and names for shell completion."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun, hear_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.embedded.engine_commands import EngineRun, EngineStatus, StoppedEngine
    from phaseline.embedded.run_execution import LeaveRequest
    from phaseline.model.rows.maintenance import Compacted, RestoredStore
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
        begun: Callable[[LeaveRequest], None] = hear_nothing,
        say: Callable[[str], None] = hear_nothing,
    ) -> EngineRun:
        """Be the engine, until all remaining work waits for a person; without ``until_idle``, until a request to stop.

        ``awaits_approvals``: continue while an approval is pending. ``begun``: receives an object that stops the engine, for
        example from a signal handler. ``say``: receives messages about its work.
        """
        return self._call(ops.RUN_ENGINE, until_idle=until_idle, stays=awaits_approvals, begun=begun, say=say)

    def status(self) -> EngineStatus:
        """Return the process that owns the store, and the open executions."""
        return self._call(ops.ENGINE_STATUS)

    def stop(self, *, drain: float | None = None) -> StoppedEngine:
        """Stop the engine when its running calls have returned, at the latest after ``drain`` seconds."""
        return self._call(ops.STOP_ENGINE, drain_s=drain)


class StoreNoun(Noun):
    """The store as a whole. All methods work while engines run."""

    def check(self) -> CheckedStore:
        """Read the whole store and check that its parts are consistent."""
        return self._call(ops.CHECK_STORE)

    def backup(self, file: str) -> Saved:
        """Copy the present state of the store into a new file, and check the copy."""
        return self._call(ops.BACK_UP_STORE, file=file)

    def restore(self, file: str) -> RestoredStore:
        """Replace the store by a backup, and keep the former store. Open executions wait until ``go_on``."""
        return self._call(ops.RESTORE_STORE, source=file)

    def go_on(self) -> Released:
        """Release the executions of a restored store that were open when it was copied."""
        return self._call(ops.GO_ON_AFTER_RESTORE)

    def compact(self) -> Compacted:
        """Return free space to the operating system, for example after a purge."""
        return self._call(ops.COMPACT_STORE)


class RecordsNoun(Noun):
    """Records in files, and expressions over them."""

    def format(self, *files: str, sort: bool = False) -> Sequence[FormattedFile]:
        """Return the records of files in canonical text, or as JSON; ``sort``: attributes by name."""
        return self._call(ops.FORMAT_RECORDS, files=files, is_sorted=sort)

    def eval(
        self, expression: str, *, records: Sequence[str] = (), attributes: Mapping[str, str] | None = None
    ) -> Sequence[EvaluatedRecord]:
        """Return the value of an expression for every record of these files; without files, for one record of ``attributes``."""
        return self._call(
            ops.EVALUATE_RECORDS, expression=expression, files=records, attributes=attributes, now=time.time()
        )


class CompletionNoun(Noun):
    """Names for shell completion."""

    def names(self, kind: Named, beginning: str = "") -> Sequence[str]:
        """Return names of a kind with this beginning; none without a store of this version."""
        return self._call(ops.OFFER_NAMES, kind=kind, beginning=beginning)
