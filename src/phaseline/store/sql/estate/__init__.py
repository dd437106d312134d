"""Statements for what joins deployments: causes, waits, dependencies, groups and schedules."""
