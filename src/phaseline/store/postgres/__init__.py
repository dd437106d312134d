"""The store in a PostgreSQL database, for teams: several machines use one store, and one of them owns it (ADR 0043)."""
