"""Conditions of packages in languages that need a limit of time: YAQL and patterns with look-ahead."""
