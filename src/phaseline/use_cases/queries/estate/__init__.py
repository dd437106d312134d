"""The read side of many deployments as one: dependencies, groups and schedules."""
