"""Show plans to users, as text and as diagrams."""
