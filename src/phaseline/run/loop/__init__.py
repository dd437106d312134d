"""The loop of the engine: take, handle, commit, act; recovery and requests."""
