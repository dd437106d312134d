"""Commands on many deployments as one: schedules, filters, sites and environments."""
