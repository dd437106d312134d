"""Explanations: what an instance waits for, the critical path, and the history as Cloudify events."""
