"""The scheduler: it receives events and returns changes and commands, and does nothing else.

``scheduler.Scheduler.handle`` is the only entry point. ``status_transitions`` holds the tables, ``arena`` the columns and the
one rule of propagation, ``lanes`` the entries that wait for a call, ``open_batches`` the open batches, ``invariants``
the conditions that always hold. No I/O, no clock, no randomness: time comes in as an argument.
"""
