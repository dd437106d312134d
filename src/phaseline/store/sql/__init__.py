"""Statements, a module for each group of tables."""
