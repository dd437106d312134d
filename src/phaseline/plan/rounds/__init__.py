"""The rounds of hooks and tasks before and after a planner's own rounds, and the preview of all rounds."""
