"""The engine in this process: own the store, run, follow, step down."""
