"""The SQLite file: connections, lock, backup and integrity."""
