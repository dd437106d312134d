"""The write side of many deployments as one: groups and schedules."""
