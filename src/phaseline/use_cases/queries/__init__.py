"""Queries: read the store and return lists, details and explanations, without changing anything."""
