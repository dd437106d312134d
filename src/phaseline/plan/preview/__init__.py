"""A plan as its reader sees it, and diagrams."""
