"""The read side: lists, details and explanations."""
