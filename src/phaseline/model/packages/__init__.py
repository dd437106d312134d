"""Plugin packages, their tasks and the limits of their roles."""
