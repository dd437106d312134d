"""Statements for many deployments as one: schedules."""
