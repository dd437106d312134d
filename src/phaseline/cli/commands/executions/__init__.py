"""Commands on executions."""
