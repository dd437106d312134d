"""View of the entry of one phase for one resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


@frozen
class PhaseEntryView:
    """One phase of one resource. ``run``: the number of the latest call.

    ``run`` is 0 if the phase was not called since the resource entered its state. ``attempt`` begins with 1 and grows with
    each retry by a user. ``next_run_at`` is set only for a sleeping entry. ``waiting_for``: the phases that must be
    complete first. ``note``: the reason why the phase is not called for any resource. ``data``: the data that the plugin
    has stored.
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
        """True while the phase keeps the resource in its state."""
        return self.status not in {"Completed", "Canceled"}

    @property
    def since_at(self) -> int:
        """Return the time (ms) of the failure if the phase failed, otherwise of the resource's entry; 0 if unknown."""
        return self.ended_at or self.entered_at if self.status == "Failed" else self.entered_at
