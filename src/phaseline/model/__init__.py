"""The values that all other layers of the product exchange, such as blueprints, topologies, graphs and events; all frozen.

Nothing here does I/O, reads a clock or decides anything about a lifecycle.
"""
