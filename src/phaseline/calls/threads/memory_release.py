"""Return memory that large temporary columns have left free to the operating system."""

from __future__ import annotations

from phaseline.calls.threads.guarded_calls import guarded_call

LARGE_ENTRIES = 1_000_000
"""Entries of a graph whose planning has left so much that giving it back (some 10 ms) is worth it."""


def return_freed() -> None:
    """Have the C library return its free pages: columns below 32 MB leave holes in its heap that count as ours.

    It does nothing where the library knows no such function.
    """
    import ctypes  # few engines plan a million entries

    trim, _ = guarded_call(getattr, ctypes.CDLL(None), "malloc_trim")
    if trim is not None:
        trim(0)
