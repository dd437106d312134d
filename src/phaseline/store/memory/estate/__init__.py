"""What joins deployments in the store in memory: causes, waits and dependencies."""
