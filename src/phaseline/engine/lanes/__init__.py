"""Lanes, in which entries wait for a call that they may share; queues and rate limits of lanes."""
