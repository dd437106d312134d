"""Tools for authors and operators that start no execution."""
