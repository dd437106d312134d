"""Checks of a request before it runs: parameters, restricted actions, claims, and whether the workflow is available."""
