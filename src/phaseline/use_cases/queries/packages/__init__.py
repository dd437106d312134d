"""Queries about plugin packages."""
