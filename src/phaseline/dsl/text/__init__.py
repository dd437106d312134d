"""Read YAML and JSON with the positions of elements, and report problems with their lines."""
