"""Pages: the statuses of a stretch of a graph, as the store keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.events import PAGE_ENTRIES, PageWritten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.engine.laying import Slot


def written(
    order: Sequence[Slot], status: memoryview, pages: Sequence[int], numbers: Sequence[int]
) -> list[PageWritten]:
    """The contents of pages, numbered over all graphs; ``numbers``: the places in ``order`` of the graphs they are of."""
    found = []
    for page, number in zip(pages, numbers, strict=True):
        slot = order[number]
        place = page - slot.first_page
        low = slot.base + place * PAGE_ENTRIES
        found.append(PageWritten(slot.graph_id, place, status[low : min(low + PAGE_ENTRIES, slot.end)].tobytes()))
    return found
