"""The migrations, one module for each, in the order of their numbers."""
