"""Read blueprints, packages and records from files. Nothing is stored."""
