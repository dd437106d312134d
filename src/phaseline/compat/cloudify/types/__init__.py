"""Nodes that stand for deployments, blueprints and secrets: what the functions ``cloudify_types.…`` do (CO1)."""
