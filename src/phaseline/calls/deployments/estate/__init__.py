"""What deployments that make or read one another do to their executions."""
