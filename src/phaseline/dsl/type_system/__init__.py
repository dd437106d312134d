"""Types, properties, constraints, operations and inheritance."""
