"""The store in memory: the same promises without a file."""
