"""The engine of this process: own the store, run, follow, step down."""
