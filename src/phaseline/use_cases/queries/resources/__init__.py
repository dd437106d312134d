"""The read side of resources."""
