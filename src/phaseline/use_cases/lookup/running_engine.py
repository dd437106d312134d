"""The engine that runs, if any: who goes on with what was asked for, and having it read its plugins anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows import rows

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


@frozen
class RunningEngine:
    """Who goes on with what was asked for: the owner of the store (pid 0: nobody runs an engine)."""

    pid: int

    @property
    def is_there(self) -> bool:
        """True if an engine runs."""
        return self.pid != 0


def engine_now(ctx: RequestContext) -> RunningEngine:
    """The engine that runs at this moment, if any. One whose process cannot be told counts as there."""
    owner = ctx.store.owner()
    return RunningEngine(0 if owner is None else owner.pid or -1)


def tell_engine(ctx: RequestContext) -> None:
    """Have an engine that runs read its plugins anew; without one the next reads them when it begins."""
    if ctx.store.owner() is not None:
        ctx.store.ask(rows.RequestKind.RELOAD, 0, {}, ctx.actor)
