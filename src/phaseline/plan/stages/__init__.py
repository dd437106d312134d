"""Graphs of the stage tasks of packages."""
