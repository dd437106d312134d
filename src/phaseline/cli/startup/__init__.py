"""Imports that keep short commands fast."""
