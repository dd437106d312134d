"""Calls phase plugins: functions that get a handler for many resources, or one resource and its phase's data."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

from phaseline.compat.cyclecloud.phase_cache import PhaseCache
from phaseline.compat.cyclecloud.phase_run import PhaseRun
from phaseline.model.declaration import Declaration, declaration_of, declared
from phaseline.run.plugin_code import attempt, run_to_end
from phaseline.run.together import Gathering

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.run.calling import Call, Outcome


class PhaseCaller:
    """What all phases of a process share: their caches, and of which functions it was said that they return something."""

    def __init__(self) -> None:
        """Nothing was called yet."""
        self._caches: dict[str, PhaseCache] = {}
        self._returning: WeakSet[object] = WeakSet()

    def call(self, call: Call) -> Outcome:
        """Call the plugin for one resource."""
        remembered = () if call.data is None else (0,)
        run = self.gather(Gathering(1, lambda _: call, call.log, remembered))
        _, raised = attempt(run_to_end, run.code(call.load()))
        return run.settle_only(raised)

    def gather(self, gathering: Gathering) -> PhaseRun:
        """The run that a plugin is called for."""
        return PhaseRun(gathering, self._cache_of, self._is_new)

    def _cache_of(self, phase: str) -> PhaseCache:
        return self._caches.setdefault(phase, PhaseCache())

    def _is_new(self, function: object) -> bool:
        if function in self._returning:
            return False
        self._returning.add(function)
        return True


def as_phase(
    function: Callable[..., object], form: Literal["handle", "handle_one"] | None = None
) -> Callable[..., object]:
    """The function with the declaration of a phase plugin: its definition says that it is one, it need not itself.

    ``form`` as in ``PhaseCode``; None: a function of two arguments gets a resource and its phase's data, every other one
    a handler.
    """
    if declaration_of(function) is not None:
        return function
    is_each = form == "handle_one"
    if form is None:
        is_each = function.__name__ == "handle_one" or len(inspect.signature(function).parameters) == 2
    return declared(function, Declaration("phase", bulk=not is_each, repeatable=True))
