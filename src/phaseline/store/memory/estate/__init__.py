"""What joins deployments in the store in memory: causes, waits, dependencies, schedules, filters and sites."""
