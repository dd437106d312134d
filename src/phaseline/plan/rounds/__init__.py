"""Rounds before and after a planner's own: hooks and the look-ahead of previews."""
