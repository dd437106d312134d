"""Removal of old executions and lines from the tables, in slices."""
