"""The entry of one phase for one resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


@frozen
class PhaseEntryView:
    """One phase of one resource. ``run`` is the number of the latest call, 0: it was never called in this stay.

    ``attempt`` counts from 1, one more with each retry of a user. ``next_run_at`` only of what sleeps. ``waiting_for``: the
    phases that must be complete first. ``note``: what keeps the phase itself from being called. ``data``: the plugin's own.
    """

    phase: str
    status: str
    state: str
    message: str = ""
    description: str = ""
    entered_at: int = 0
    started_at: int = 0
    ended_at: int = 0
    next_run_at: int = 0
    run_count: int = 0
    attempt: int = 1
    run: int = 0
    waiting_for: Sequence[str] = ()
    note: str = ""
    data: Mapping[str, Value] = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """True while it keeps the resource in its state."""
        return self.status not in {"Completed", "Canceled"}

    @property
    def since_at(self) -> int:
        """Since when it keeps the resource: since it failed, else since the resource came to it; 0: it is not known."""
        return self.ended_at or self.entered_at if self.status == "Failed" else self.entered_at
