"""Graphs of the states of resources."""
