"""Imports, namespaces and merged sections."""
