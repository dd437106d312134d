"""Lets foreign plugin code run unchanged: interfaces of ancestors, carried by our engine."""
