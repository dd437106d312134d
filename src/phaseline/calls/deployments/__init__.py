"""Deployments in the memory of the engine, planners and progress."""
