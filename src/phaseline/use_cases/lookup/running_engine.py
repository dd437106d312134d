"""Find the running engine, and request that it reloads its plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows import rows

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


@frozen
class RunningEngine:
    """The owner process of the store, which carries out requests.

    ``pid`` is 0 if no engine runs, and -1 if an engine runs whose process id is unknown.
    """

    pid: int

    @property
    def is_there(self) -> bool:
        """Return True if an engine runs."""
        return self.pid != 0


def engine_now(ctx: RequestContext) -> RunningEngine:
    """Return the present engine. An engine with an unknown process id counts as running."""
    owner = ctx.store.owner()
    return RunningEngine(0 if owner is None else owner.pid or -1)


def request_reload(ctx: RequestContext) -> None:
    """Request that the running engine reloads its plugins. If none runs, the next engine reads them at its start."""
    if ctx.store.owner() is not None:
        ctx.store.ask(rows.RequestKind.RELOAD, 0, {}, ctx.actor)
