"""Tools of authors and operators that start no execution."""
