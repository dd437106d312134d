"""The methods of the Python API on many deployments as one: groups and schedules."""
