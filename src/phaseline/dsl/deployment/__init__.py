"""Combine a blueprint with inputs, and evaluate its functions as far as possible."""
