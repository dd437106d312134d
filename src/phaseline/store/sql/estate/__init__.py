"""Statements for what joins deployments: causes, and executions that wait for others."""
