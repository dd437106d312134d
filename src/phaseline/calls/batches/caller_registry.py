"""Flavours of plugin code, and the callers of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.calls.batches.bulk_call import GATHERING
from phaseline.calls.protocol.call import Outcome, outcome_of
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.model.blueprint.operation_declaration import declaration_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    from phaseline.calls.batches.bulk_call import BulkCall, BulkCaller, Gathers, Together
    from phaseline.calls.protocol.call import Caller, Flavour, PluginCall


class CallerRegistry:
    """One caller for each flavour, shared by all threads. Filled above: whose code is called is not known here."""

    def __init__(self, make: Callable[[Flavour], Caller]) -> None:
        """``make`` gives the caller of a flavour with the first call of that flavour."""
        self._make = make
        self._made: dict[Flavour, Caller] = {}

    def __getitem__(self, flavour: Flavour) -> Caller:
        """The caller of a flavour."""
        found = self._made.get(flavour)
        return found if found is not None else self._made.setdefault(flavour, self._make(flavour))

    def gather(self, flavour: Gathers, gathering: BulkCall) -> Together:
        """Members of such a flavour, about to be called together."""
        gatherer = cast("BulkCaller", self[flavour])
        return gatherer.gather(gathering)


def flavour_of(call: PluginCall) -> Flavour:
    """The caller of an operation. Raises what importing its function raises."""
    if call.site.hook is not None:
        return "hook"
    if call.site.form != "function":
        return "script"
    declaration = declaration_of(call.load())
    return "cloudify" if declaration is None else declaration.flavour


def gathers(flavour: Flavour) -> TypeGuard[Gathers]:
    """Whether functions of this flavour may take several members, and may be coroutines."""
    return flavour in GATHERING


def call_member(call: PluginCall, flavour: Flavour, callers: CallerRegistry) -> Outcome:
    """The outcome of a call, whatever its code does (W2)."""
    outcome, error = guarded_call(callers[flavour].call, call)
    if outcome is None:
        assert error is not None
        return outcome_of(error)
    return outcome
