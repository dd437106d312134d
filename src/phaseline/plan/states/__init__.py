"""Graphs that take resources through their states."""
