"""Stage tasks of packages as graphs."""
