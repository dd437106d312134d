"""Rows of a store; each kind of row has a type."""
