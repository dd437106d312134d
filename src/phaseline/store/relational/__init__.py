"""The store on a database, as far as it is the same for SQLite and PostgreSQL."""
