"""The objects that call plugin code, one kind for each kind of code; modules are imported at the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.protocol.call import Caller, Flavour
    from phaseline.tasks.host_keys import HostKeys


def make_caller(flavour: Flavour, host_keys: Callable[[], HostKeys] | None = None) -> Caller:
    """Make the object that calls plugin code of this kind, for an executor or for the trial of a function.

    ``host_keys`` returns the rules by which tasks check the keys of hosts.
    """
    if flavour == "task":
        from phaseline.tasks.callers import TaskCaller

        return TaskCaller(None if host_keys is None else host_keys())
    if flavour == "native":
        from phaseline.calls.batches.native_items import NativeCaller

        return NativeCaller()
    if flavour == "hook":
        from phaseline.hooks.caller import HookCaller

        return HookCaller()
    if flavour == "phase":
        from phaseline.compat.cyclecloud.callers import PhaseCaller

        return PhaseCaller()
    from phaseline.compat.cloudify.callers import FunctionCaller, ScriptCaller

    return FunctionCaller() if flavour == "cloudify" else ScriptCaller()
