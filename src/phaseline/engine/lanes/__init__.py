"""Entries that may share a call, and when they are called: queues, shelves for functions, rates."""
