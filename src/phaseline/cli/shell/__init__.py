"""Context, options and completion of the command line."""
