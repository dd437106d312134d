"""Statements for the tables of an estate: dependencies between deployments."""
