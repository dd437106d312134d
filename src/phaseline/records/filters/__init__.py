"""Filters of lists: expressions over a row, and the rules of Cloudify, which are translated to expressions."""
