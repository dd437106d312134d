"""Checks of a request before it runs: parameters, restrictions, claims and availability."""
