"""Occurrences of recurrence rules in a time zone, and which of them fire."""
