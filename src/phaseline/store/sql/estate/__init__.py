"""Many deployments as one: filters, sites, and conditions of lists as SQL."""
