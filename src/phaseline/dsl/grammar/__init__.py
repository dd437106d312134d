"""The grammar of blueprints as tables, checks of values against the tables, and the JSON Schema."""
