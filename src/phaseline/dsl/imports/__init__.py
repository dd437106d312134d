"""Follow imports, apply namespaces, and merge the sections of all files."""
