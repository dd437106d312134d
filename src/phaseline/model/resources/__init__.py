"""Resources on state paths, and the names of their graphs."""
