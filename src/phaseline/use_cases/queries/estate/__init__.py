"""Queries about the deployments of an estate: what they read of one another."""
