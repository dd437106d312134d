"""Returning memory to the operating system that large temporary arrays have left free."""

from __future__ import annotations

from phaseline.calls.threads.guarded_calls import guarded_call

LARGE_ENTRIES = 1_000_000
"""Number of entries from which a graph's planning leaves so much memory that returning it, some 10 ms, is worth it."""


def return_freed() -> None:
    """Make the C library return free pages, which freed arrays below 32 MB leave in its heap.

    Do nothing if the library has no function for that.
    """
    import ctypes  # few engines plan a million entries

    trim, _ = guarded_call(getattr, ctypes.CDLL(None), "malloc_trim")
    if trim is not None:
        trim(0)
