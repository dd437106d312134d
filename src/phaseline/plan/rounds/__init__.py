"""Rounds before and after the planner's own rounds (hooks), and the preview of rounds."""
