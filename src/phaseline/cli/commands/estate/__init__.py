"""Commands on many deployments as one: schedules."""
