"""Small steps from a selection of instances to a graph, each from draft to draft, one a module."""
