"""Functions of plugins: found in their text, imported when they are called."""
