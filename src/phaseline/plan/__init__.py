"""From a blueprint and a request to what is to be done: instances, graphs, the plan for the user, and why something waits.

Pure: what is decided here depends on the arguments alone.
"""
