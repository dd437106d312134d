"""What joins deployments in the store in memory: causes, and executions that wait for others."""
