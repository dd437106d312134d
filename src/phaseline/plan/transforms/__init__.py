"""Transforms from a selection of instances to a graph, each from draft to draft, one in each module."""
