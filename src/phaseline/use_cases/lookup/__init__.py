"""From names and ids to rows."""
