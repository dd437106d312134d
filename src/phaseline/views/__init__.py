"""Answers of use cases, and their JSON."""
