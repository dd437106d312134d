"""What joins deployments in the store in memory: causes, waits, dependencies, groups and schedules."""
