"""Run the engine in this process: own the store, run and follow executions, hand the work over to another process."""
