"""The engine and the store as a whole, records in files, and names for shells that complete them."""

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
    """The process that owns the store."""

    def run(
        self,
        *,
        until_idle: bool = True,
        awaits_approvals: bool = False,
        begun: Callable[[LeaveRequest], None] = hear_nothing,
        say: Callable[[str], None] = hear_nothing,
    ) -> EngineRun:
        """Be the engine, until nothing is open but what waits for a person; else until it is asked to stop.

        ``awaits_approvals``: stay while an approval is pending. ``begun``: receives what stops it, such as for a signal handler.
        ``say``: receives what happens meanwhile.
        """
        return self._call(ops.RUN_ENGINE, until_idle=until_idle, stays=awaits_approvals, begun=begun, say=say)

    def status(self) -> EngineStatus:
        """Which process owns the store, and what is open."""
        return self._call(ops.ENGINE_STATUS)

    def stop(self, *, drain: float | None = None) -> StoppedEngine:
        """Have it stop when its running calls have returned, at most after ``drain`` seconds."""
        return self._call(ops.STOP_ENGINE, drain_s=drain)


class StoreNoun(Noun):
    """The store as a whole. All of it works while engines run."""

    def check(self) -> CheckedStore:
        """Read everything and compare."""
        return self._call(ops.CHECK_STORE)

    def backup(self, file: str) -> Saved:
        """Copy the store as it is at this moment into a new file, and check the copy."""
        return self._call(ops.BACK_UP_STORE, file=file)

    def restore(self, file: str) -> RestoredStore:
        """Put a backup in the place of the store, and keep that. Open executions wait until ``go_on``."""
        return self._call(ops.RESTORE_STORE, source=file)

    def go_on(self) -> Released:
        """Release executions that were open when the store was copied."""
        return self._call(ops.GO_ON_AFTER_RESTORE)

    def compact(self) -> Compacted:
        """Give free space back to the operating system, such as after a purge."""
        return self._call(ops.COMPACT_STORE)


class RecordsNoun(Noun):
    """Records in files, and expressions over them."""

    def format(self, *files: str, sort: bool = False) -> Sequence[FormattedFile]:
        """The records of files in their canonical text, or as JSON; ``sort``: attributes by name."""
        return self._call(ops.FORMAT_RECORDS, files=files, is_sorted=sort)

    def eval(
        self, expression: str, *, records: Sequence[str] = (), attributes: Mapping[str, str] | None = None
    ) -> Sequence[EvaluatedRecord]:
        """The value of an expression for every record of these files; without any for one record with the attributes given."""
        return self._call(
            ops.EVALUATE_RECORDS, expression=expression, files=records, attributes=attributes, now=time.time()
        )


class CompletionNoun(Noun):
    """Names for shells that complete words."""

    def names(self, kind: Named, beginning: str = "") -> Sequence[str]:
        """Names of a kind that begin so; none without a store of this version."""
        return self._call(ops.OFFER_NAMES, kind=kind, beginning=beginning)
