"""The transforms by which planners turn chosen instances into a graph.

Each takes a draft and returns the next draft.
"""
