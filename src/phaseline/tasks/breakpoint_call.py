"""The operation of a breakpoint entry: it asks to be called again until the breakpoint is cleared."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from phaseline.model.blueprint.operation_declaration import operation
from phaseline.model.execution.breakpoints import UNTIL

if TYPE_CHECKING:
    from phaseline.calls.batches.native_items import ItemBatch

LONG_S = 86_400.0
"""Seconds after which a breakpoint without a time limit is called again, because no entry sleeps without a due time."""


@operation(bulk=True, repeatable=True)
def pause(batch: ItemBatch) -> None:
    """Let each item sleep until its breakpoint is cleared; an item with a time limit fails when the
    limit has passed.
    """
    now = time.time()
    for item in batch:
        point, wait = str(item.inputs["point"]), float(str(item.inputs["timeout_s"]))
        if not wait:
            item.again(LONG_S, f"paused at {point} until it is cleared: phaseline breakpoints clear {point}")
            continue
        until = float(str(item.data.setdefault(UNTIL, now + wait)))
        if until > now:
            told = f"paused at {point} until it is cleared, at most {wait:g} s: phaseline breakpoints clear {point}"
            item.again(until - now, told)
        else:
            item.data.clear()
            item.fail(f"breakpoint {point} was not cleared within {wait:g} s")
