"""The scheduler: it receives events and returns the changes to store and the commands to carry out.

``scheduler.Scheduler.handle`` is the only entry point. ``status_transitions`` holds the tables of statuses, ``arena``
the statuses of all entries, ``lanes`` the entries that wait for a call, ``open_batches`` the open batches, and
``invariants`` the conditions that always hold. The scheduler does no I/O, reads no clock and uses no randomness:
callers pass the time.
"""
