"""An owner that lives and answers nobody: somebody has stopped its process, or a plugin in it lets nothing else run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Owner
    from phaseline.ports import Store

SILENT_MS = 10_000
"""An owner that works answers within one; one that begins or leaves, or makes a large turn, within a few. Past this something is wrong."""


@frozen
class Silence:
    """``owner`` has had a request before it since ``since_at``, for ``span_ms`` now, and has said nothing."""

    owner: Owner
    since_at: int
    span_ms: int

    @property
    def text(self) -> str:
        """What is wrong."""
        return f"{self.owner} lives, but has not answered a request for {self.span_ms // 1000:,} s"

    @property
    def mend(self) -> str:
        """What to do. Nothing is lost with the process: what it was calling is asked about, or called again."""
        if not self.owner.pid:
            return "Look at the process that has the store open; if it stands still, end it: another goes on."
        number = self.owner.pid
        return f"Look at it: ps -fp {number}. Stopped (T): kill -CONT {number}. Otherwise: kill -9 {number}, and another goes on."

    def __str__(self) -> str:
        """Both, as one sentence after the other."""
        return f"{self.text}. {self.mend}"


def silence(store: Store, now: int, owner: Owner | None = None) -> Silence | None:
    """Whether whoever owns the store lets somebody wait too long; None: it answers, or nobody asked, or there is no owner.

    ``owner``: the one that is known to own it at this moment, if somebody has looked.
    """
    asked = store.requests()
    if not asked or now - asked[0].at < SILENT_MS:
        return None
    owner = owner or store.owner()
    if owner is None:
        return None
    since = max(asked[0].at, owner.since)  # what was asked of nobody it has had before it since it came
    return Silence(owner, since, now - since) if now - since >= SILENT_MS else None
