"""Planning: from a blueprint and a request to instances, graphs, the plan shown to the user, and reasons for waiting.

All functions are pure: results depend on the arguments alone.
"""
