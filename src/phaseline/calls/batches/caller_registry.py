"""The caller for each flavour of plugin code, such as ``native`` or ``script``."""

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
    """One caller for each flavour, shared by all threads. A higher layer supplies the callers."""

    def __init__(self, make: Callable[[Flavour], Caller]) -> None:
        """``make`` creates the caller of a flavour, at the first call of that flavour."""
        self._make = make
        self._made: dict[Flavour, Caller] = {}

    def __getitem__(self, flavour: Flavour) -> Caller:
        """Return the caller of a flavour."""
        found = self._made.get(flavour)
        return found if found is not None else self._made.setdefault(flavour, self._make(flavour))

    def gather(self, flavour: Gathers, gathering: BulkCall) -> Together:
        """Return members of this flavour as one unit, which is about to be called."""
        gatherer = cast("BulkCaller", self[flavour])
        return gatherer.gather(gathering)


def flavour_of(call: PluginCall) -> Flavour:
    """Return the flavour of a call's code. Raises what importing its function raises."""
    if call.site.hook is not None:
        return "hook"
    if call.site.form != "function":
        return "script"
    declaration = declaration_of(call.load())
    return "cloudify" if declaration is None else declaration.flavour


def gathers(flavour: Flavour) -> TypeGuard[Gathers]:
    """Return True if functions of this flavour can take several members, and can be coroutines."""
    return flavour in GATHERING


def call_member(call: PluginCall, flavour: Flavour, callers: CallerRegistry) -> Outcome:
    """Call a member and return its outcome. Exceptions of the code become outcomes (W2)."""
    outcome, error = guarded_call(callers[flavour].call, call)
    if outcome is None:
        assert error is not None
        return outcome_of(error)
    return outcome
