"""Blueprints as they are after reading, with their labels and groups; stored blueprints."""
