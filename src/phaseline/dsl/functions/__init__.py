"""Intrinsic functions: mappings such as ``{"get_input": "port"}`` that stand for a value (B40-B42).

``evaluate`` answers what is known to a scope: everything for a running instance, inputs and
properties while a deployment is made (the rest stays as it is written).
"""
