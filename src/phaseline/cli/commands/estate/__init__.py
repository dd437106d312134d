"""Commands on many deployments."""
