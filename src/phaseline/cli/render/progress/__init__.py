"""Progress of an execution: the live table and its lines."""
