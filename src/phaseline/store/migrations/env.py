"""Script that alembic runs for a migration; ``upgrade`` begins and ends the transaction."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
