"""YAML and JSON with positions, and problems with their lines."""
