"""Many deployments as one, in the store in memory: schedules."""
