"""The store in memory: it behaves like the store in a file, but ends with its process."""
