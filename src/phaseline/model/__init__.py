"""The nouns of the product: frozen values that every other layer speaks in.

Nothing here does I/O, reads a clock or decides anything about a lifecycle.
"""
