"""The engine's loop: take events, decide, commit, act. Also recovery of stored executions and requests of users."""
