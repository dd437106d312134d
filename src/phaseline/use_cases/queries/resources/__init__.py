"""Queries about resources."""
