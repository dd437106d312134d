"""Statements for what joins deployments: causes, waits, dependencies, schedules, filters and sites."""
