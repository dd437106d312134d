"""Queries about deployments and executions that others have made."""
