"""Context, options, output and completion of the command line."""
