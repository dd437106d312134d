"""State paths of resources, beside the loop."""
