"""An estate in the store in memory: dependencies between deployments."""
