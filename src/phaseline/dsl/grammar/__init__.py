"""The grammar as tables, checks of shapes, and the JSON Schema."""
