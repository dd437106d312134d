"""Many deployments as one in the store in memory: filters, sites, and conditions of lists."""
