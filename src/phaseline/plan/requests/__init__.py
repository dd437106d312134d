"""Checks of a request before it runs: its parameters, restricted actions, claims, and whether its workflow is available."""
