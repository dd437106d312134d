"""Intrinsic functions: mappings such as ``{"get_input": "port"}`` that represent a value (B40-B42).

``evaluate`` computes all functions whose values the scope knows: for a running instance all of them, while a deployment
is created those of inputs and properties. Functions with unknown values remain unchanged.
"""
