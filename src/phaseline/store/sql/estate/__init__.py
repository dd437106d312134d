"""Statements for what joins deployments: causes, waits and dependencies."""
