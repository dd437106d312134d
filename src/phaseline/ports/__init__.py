"""The outside as the core and the use cases need it, as protocols: clock, secrets, store, catalog, executor."""
