"""Commands on deployments, instances and resources."""
