"""The read side of many deployments as one: dependencies and schedules."""
