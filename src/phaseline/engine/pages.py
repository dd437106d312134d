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
    first, last = order[min(numbers)].base, order[max(numbers)].end
    if last - first > len(pages) * PAGE_ENTRIES:
        return [_page(order[number], page, status, 0) for page, number in zip(pages, numbers, strict=True)]
    held = status[first:last].tobytes()  # copied once: of ten thousand small graphs each has a page
    return [_page(order[number], page, held, first) for page, number in zip(pages, numbers, strict=True)]


def _page(slot: Slot, page: int, held: memoryview | bytes, first: int) -> PageWritten:
    """One of them; ``held``: statuses from the entry ``first`` on."""
    if slot.first_page == page:  # most graphs have but one
        low, place = slot.base, 0
    else:
        place = page - slot.first_page
        low = slot.base + place * PAGE_ENTRIES
    high = slot.end if slot.end - low < PAGE_ENTRIES else low + PAGE_ENTRIES
    return PageWritten(slot.graph_id, place, bytes(held[low - first : high - first]))
