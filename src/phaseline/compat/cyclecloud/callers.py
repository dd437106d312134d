"""Calls phase plugins: a function takes either a handler for many resources, or one resource with its phase data."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from phaseline.calls.batches.bulk_call import BulkCall
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call
from phaseline.compat.cyclecloud.phase_cache import PhaseCache
from phaseline.compat.cyclecloud.phase_run import PhaseRun

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import Outcome, PluginCall


class PhaseCaller:
    """Calls phase plugins, and keeps what their runs share: caches, and the functions for which a warning about an
    ignored return value was already logged.
    """

    def __init__(self) -> None:
        self._caches: dict[str, PhaseCache] = {}
        self._returning: WeakSet[object] = WeakSet()

    def call(self, call: PluginCall) -> Outcome:
        """Call the plugin for one resource."""
        remembered = () if call.data is None else (0,)
        doubted = (0,) if call.is_doubted else ()
        run = self.gather(BulkCall(1, lambda _: call, call.log, remembered, doubted))
        _, raised = guarded_call(call_and_await, run.code(call.load()))
        return run.settle_only(raised)

    def gather(self, gathering: BulkCall) -> PhaseRun:
        """Return the object that represents one run, in which a plugin is called for many resources."""
        return PhaseRun(gathering, self._cache_of, self._is_new)

    def _cache_of(self, phase: str) -> PhaseCache:
        return self._caches.setdefault(phase, PhaseCache())

    def _is_new(self, function: object) -> bool:
        if function in self._returning:
            return False
        self._returning.add(function)
        return True
