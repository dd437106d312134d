"""Imports that keep a short command short."""
