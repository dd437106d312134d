"""The read side of many deployments as one: schedules."""
