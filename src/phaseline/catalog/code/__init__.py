"""Plugin functions: their declarations are read from source text, and the functions are imported
when they are called.
"""
