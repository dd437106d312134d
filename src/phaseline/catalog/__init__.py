"""Plugin code: declarations of functions are read from source text; functions are imported when
they are first called.
"""
