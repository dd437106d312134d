"""Rounds before and after a planner's own: hooks, retries and the look-ahead of previews."""
