"""Flavours of plugin code and who calls each; callers are imported with the first call of their flavour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.declaration import declaration_of
from phaseline.run.calling import Outcome, outcome_of
from phaseline.run.plugin_code import attempt

if TYPE_CHECKING:
    from phaseline.run.calling import Call, Caller, Flavour


class Callers:
    """One caller for each flavour, shared by all threads."""

    def __init__(self) -> None:
        """None is made yet."""
        self._made: dict[Flavour, Caller] = {}

    def __getitem__(self, flavour: Flavour) -> Caller:
        """The caller of a flavour."""
        found = self._made.get(flavour)
        return found if found is not None else self._made.setdefault(flavour, _make(flavour))


def _make(flavour: Flavour) -> Caller:
    if flavour == "native":
        from phaseline.run.native import NativeCaller

        return NativeCaller()
    from phaseline.compat.cloudify.callers import FunctionCaller, ScriptCaller

    return FunctionCaller() if flavour == "cloudify" else ScriptCaller()


def flavour_of(call: Call) -> Flavour:
    """Who calls it. Raises what importing its function raises."""
    if call.site.form != "function":
        return "script"
    return "native" if declaration_of(call.load()) is not None else "cloudify"


def call_member(call: Call, flavour: Flavour, callers: Callers) -> Outcome:
    """The outcome of a call, whatever its code does (W2)."""
    outcome, error = attempt(callers[flavour].call, call)
    if outcome is None:
        assert error is not None
        return outcome_of(error)
    return outcome
