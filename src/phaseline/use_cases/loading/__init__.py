"""From files to values: blueprints, packages and records. Nothing is stored."""
