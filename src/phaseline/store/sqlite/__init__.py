"""The SQLite file of a store: its connections, lock, backup and integrity check."""
