"""Prepare executions: plans, problems and warnings. Nothing is stored."""
