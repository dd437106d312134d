"""Resolve types, properties, constraints and operations with inheritance."""
