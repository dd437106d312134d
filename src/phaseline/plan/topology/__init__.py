"""The instances of a deployment: how they are created, scaled, modified, compared, updated and adopted."""
