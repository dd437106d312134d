"""Occurrences of recurrence rules in a time zone."""
