"""Protocols for what the core and the use cases need from outside: clock, secrets, store, plugin catalog, executor."""
