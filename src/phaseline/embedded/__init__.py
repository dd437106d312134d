"""The engine in this process: own the store, run executions, follow them, hand over to another process."""
