"""The methods of the client about many deployments."""
