"""The scheduler: events in, changes and commands out, and nothing else.

``scheduler.Scheduler.handle`` is the only door. ``rules`` holds the tables, ``arena`` the columns and the
one rule of propagation, ``lanes`` what waits for a call, ``calls`` the open batches, ``invariants`` what must
always hold. No I/O, no clock, no randomness: time comes in as an argument.
"""
