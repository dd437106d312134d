"""Graphs that move resources through their states."""
