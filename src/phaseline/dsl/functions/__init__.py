"""Intrinsic functions: mappings such as ``{"get_input": "port"}`` that represent a value (B40-B42).

``evaluate`` computes every function whose value the scope knows. For a running instance these are all functions; while
a deployment is created these are the functions that need only inputs and properties. The remaining functions stay
unchanged.
"""
