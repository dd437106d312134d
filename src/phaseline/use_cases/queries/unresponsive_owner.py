"""Detect an owner process that is alive but does not answer requests.

The process may be stopped, or code of a plugin may keep all its other threads from running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.rows import Owner, RequestRow
    from phaseline.ports.tenant_store import TenantStore

SILENT_MS = 10_000
"""Time (ms) after which an unanswered request counts as a problem.

A working owner answers within a second; one that starts, stops or commits much data needs a few seconds.
"""


@frozen
class Silence:
    """The fact that ``owner`` has not answered a request since ``since_at``, that is for ``span_ms``."""

    owner: Owner
    since_at: int
    span_ms: int

    @property
    def text(self) -> str:
        """The problem as one clause."""
        return f"{self.owner} lives, but has not answered a request for {self.span_ms // 1000:,} s"

    @property
    def mend(self) -> str:
        """What an operator can do. Ending the process loses nothing: its running calls are checked, or called again."""
        if not self.owner.pid:
            return "look at the process that has the store open, and end it if it hangs: another process then continues its work"
        number, place = self.owner.pid, f" on {self.owner.host}" if self.owner.host else ""
        return f"look at the process{place}: ps -fp {number}; if it is stopped (T), continue it: kill -CONT {number}; otherwise end it: kill -9 {number}; another process then continues its work"

    def __str__(self) -> str:
        """Return the problem and what an operator can do."""
        return f"{self.text}; {self.mend}"


def silence(store: TenantStore, now: int, owner: Owner | None = None) -> Silence | None:
    """Return the silence of the owner process, or None if no request has waited too long or there is no owner.

    ``owner``: the present owner, if the caller has already read it.
    """
    asked = store.requests()
    if not asked or now - asked[0].at < SILENT_MS:
        return None
    owner = owner or store.owner()
    return None if owner is None else silence_of(asked, now, owner)


def silence_of(asked: Sequence[RequestRow], now: int, owner: Owner) -> Silence | None:
    """Return the silence of the owner process, or None if none of the unanswered requests has waited too long."""
    if not asked or now - asked[0].at < SILENT_MS:
        return None
    since = max(asked[0].at, owner.since)  # a request older than the owner has waited for it only since it started
    return Silence(owner, since, now - since) if now - since >= SILENT_MS else None
