"""Phase plugins as definitions, and the registry of phases."""
