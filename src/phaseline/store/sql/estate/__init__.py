"""Statements for what joins deployments: causes, waits, dependencies and schedules."""
