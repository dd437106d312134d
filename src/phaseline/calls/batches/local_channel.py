"""The channel through which calls in this process log, save and query while they run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from phaseline.calls.protocol.call import MAX_LINE_CHARS, MAX_LINES, Outcome, truncate
from phaseline.calls.protocol.plugin_boundary import require_storable
from phaseline.calls.threads import guarded_calls
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import LogLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from phaseline.calls.batches.batch_handover import BatchHandover
    from phaseline.calls.batches.report_buffer import ReportBuffer
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DocumentChange
    from phaseline.ports.catalog import Catalog
    from phaseline.ports.clock import Clock
    from phaseline.ports.estate import CallEntry, Estate

COMMIT_S = 10.0
"""The longest wait in seconds for a commit. It is limited because an engine that is stopping makes no more commits."""


class LocalChannel:
    """The way back for all calls of one batch in this process: their log lines, data and outcomes go to the engine."""

    __slots__ = ("_catalog", "_clock", "_copies", "_handover", "_lines", "_poster")

    def __init__(self, handover: BatchHandover, poster: ReportBuffer, catalog: Catalog, clock: Clock) -> None:
        """Send log lines and data of the batch's calls to ``poster``."""
        self._handover = handover
        self._poster = poster
        self._catalog = catalog
        self._clock = clock
        self._lines: dict[int, int] = {}
        self._copies = guarded_calls.copies()

    @property
    def estate(self) -> Estate | None:
        """What the calls may ask about deployments, executions and blueprints; None if this engine has no such thing."""
        return self._handover.find_estate()

    def entry_of(self, call: PluginCall) -> CallEntry:
        """Return the entry whose call it is."""
        return self._handover.entry_of(call.member)

    def log(self, call: PluginCall, level: str, text: str) -> None:
        """Store one log line, which users can follow live."""
        self.log_member(call.member, level, text)

    def log_lines(self, call: PluginCall, level: str, lines: Sequence[str]) -> bool:
        """Store log lines of one level. Return False once the call has reached its limit, from which lines are dropped."""
        for line in lines:
            self.log_member(call.member, level, line)
        return self._lines.get(call.member, 0) <= MAX_LINES

    def log_member(self, member: int, level: str, text: str) -> None:
        """Store one log line of a member; at most ``MAX_LINES`` of each call."""
        if guarded_calls.copies() != self._copies:
            print(text, file=sys.stderr)  # noqa: T201 - in a forked copy of this process nothing keeps it
            return
        count = self._lines.get(member, 0)
        if count > MAX_LINES:
            return
        self._lines[member] = count + 1
        if count == MAX_LINES:
            level, text = "warning", f"more than {MAX_LINES} lines: the rest of this call's output is left out"
        handover = self._handover
        line = LogLine(
            handover.part_of(member).segment.execution,
            self._clock.now(),
            level,
            truncate(text, MAX_LINE_CHARS),
            handover.instance_of(member),
            handover.batch.lane.phase,
        )
        self._poster.log(handover, line)

    def log_together(self, members: np.ndarray, level: str, text: str) -> None:
        """Store one log line about a call of several members, once for each execution that has such a member."""
        handover = self._handover
        for part in handover.parts:
            if part.first <= members[-1] and members[0] < part.first + len(part.positions):
                execution, operation = part.segment.execution, handover.batch.lane.phase
                line = LogLine(execution, self._clock.now(), level, truncate(text, MAX_LINE_CHARS), operation=operation)
                self._poster.log(handover, line)

    def save(self, call: PluginCall, *, wait: bool = False) -> None:
        """Store the present runtime properties of the call's subjects; ``wait`` up to ``COMMIT_S`` for the commit."""
        self._keep(call, self._handover.changes_of(call), wait=wait)

    def save_unless_stale(self, call: PluginCall) -> bool:
        """Store the changes, unless another call has changed the same instances meanwhile; then return False."""
        changes = self._handover.part_of(call.member).deployment.changes_unless_stale(call.subjects)
        if changes is not None:
            self._keep(call, [(call.member, change) for change in changes], wait=False)
        return changes is not None

    def _keep(self, call: PluginCall, documents: Sequence[tuple[int, DocumentChange]], *, wait: bool) -> None:
        for view in call.subjects:
            view.settle()
        if documents:
            stored = self._poster.note(self._handover, call.member, documents)
            if wait:
                stored.wait(COMMIT_S)

    def tell(self, call: PluginCall, message: str) -> None:
        """Report progress, and store the call's data, so that another process can continue if this one ends."""
        outcome = Outcome(
            OutcomeKind.PENDING, message=truncate(message, MAX_LINE_CHARS), result=require_storable(call.data, "data")
        )
        self._handover.keep_data(call.member, outcome.result)
        self._poster.tell(self._handover, call.member, self._handover.remark_of(call.member, outcome))

    def is_canceled(self, call: PluginCall) -> bool:
        """Return True when a user has canceled the call."""
        return call.member in self._handover.canceled

    def on_kill(self, call: PluginCall, end: Callable[[], object]) -> None:
        """Register ``end``, which interrupts the call. Any thread may call it once a user has ordered a kill."""
        self._handover.on_kill(call.member, end)

    def load(self, call: PluginCall) -> Callable[..., object]:
        """Return the imported function that the call's site names. Raises what the import raises."""
        spot, site = self._handover.spot_of(call.member), call.site
        if site is not spot.site:  # a runner calls something of its own
            return self._catalog.load(site.implementation, site.deployment.code)
        if spot.function is None:
            if site.hook is not None:
                spot.function = self._catalog.load_hook(site.hook)
            elif site.phase_code is not None:
                spot.function = self._catalog.load_phase(site.phase_code)
            else:
                spot.function = self._catalog.load(site.implementation, site.deployment.code)
        return spot.function

    def inputs(self, call: PluginCall) -> dict[str, Value]:
        """Return the evaluated inputs, as a copy that the call may change."""
        return self._handover.part_of(call.member).inputs(call)

    def token(self, call: PluginCall) -> str:
        """Return the token of the call, equal for all attempts of one entry until a user retries it."""
        return self._handover.token_of(call.member)
