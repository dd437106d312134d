"""SQL statements of the store, one module for each group of tables."""
