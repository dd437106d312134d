"""Compatibility layers that run foreign plugin code unchanged: interfaces of other tools on top of our engine."""
