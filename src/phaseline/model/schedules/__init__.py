"""When a schedule is due: recurrence rules and their text forms."""
