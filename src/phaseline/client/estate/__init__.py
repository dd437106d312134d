"""The methods of the Python API on many deployments as one: schedules, filters, sites and environments."""
