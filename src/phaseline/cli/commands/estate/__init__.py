"""Commands on many deployments as one: groups and schedules."""
