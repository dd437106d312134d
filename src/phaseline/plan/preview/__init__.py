"""Plans as text for the user, and diagrams."""
