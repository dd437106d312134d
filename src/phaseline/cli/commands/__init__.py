"""One module for each noun or verb of the command line."""
