"""The write side of many deployments as one: schedules, saved filters and sites."""
