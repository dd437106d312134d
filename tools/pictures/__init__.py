"""The pictures of the documentation, made by the real program: ``make pictures``."""
