"""Flavours of plugin code and who calls each; callers are imported with the first call of their flavour."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.calls.batches.bulk_call import GATHERING
from phaseline.calls.protocol.call import Outcome, outcome_of
from phaseline.calls.protocol.plugin_boundary import attempt
from phaseline.model.blueprint.operation_declaration import declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    from phaseline.calls.batches.bulk_call import Gatherer, Gathering, Gathers, Together
    from phaseline.calls.protocol.call import Call, Caller, Flavour
    from phaseline.tasks.host_keys import HostKeys


class Callers:
    """One caller for each flavour, shared by all threads."""

    def __init__(self, host_keys: Callable[[], HostKeys] | None = None) -> None:
        """None is made yet. ``host_keys``: how runners of tasks look at keys of hosts."""
        self._made: dict[Flavour, Caller] = {}
        self._host_keys = host_keys

    def __getitem__(self, flavour: Flavour) -> Caller:
        """The caller of a flavour."""
        found = self._made.get(flavour)
        return found if found is not None else self._made.setdefault(flavour, _make(flavour, self._host_keys))

    def gather(self, flavour: Gathers, gathering: Gathering) -> Together:
        """Members of such a flavour, about to be called together."""
        gatherer = cast("Gatherer", self[flavour])
        return gatherer.gather(gathering)


def _make(flavour: Flavour, host_keys: Callable[[], HostKeys] | None) -> Caller:
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


def flavour_of(call: Call) -> Flavour:
    """Who calls it. Raises what importing its function raises."""
    if call.site.hook is not None:
        return "hook"
    if call.site.form != "function":
        return "script"
    declaration = declaration_of(call.load())
    return "cloudify" if declaration is None else declaration.flavour


def gathers(flavour: Flavour) -> TypeGuard[Gathers]:
    """Whether functions of this flavour may take several members, and may be coroutines."""
    return flavour in GATHERING


def call_member(call: Call, flavour: Flavour, callers: Callers) -> Outcome:
    """The outcome of a call, whatever its code does (W2)."""
    outcome, error = attempt(callers[flavour].call, call)
    if outcome is None:
        assert error is not None
        return outcome_of(error)
    return outcome
