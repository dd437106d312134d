"""Looks for blueprints that make the reader fail otherwise than with problems: ``make fuzz``."""
