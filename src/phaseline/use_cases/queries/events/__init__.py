"""Events, logs and timelines of executions."""
