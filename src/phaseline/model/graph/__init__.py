"""The graph of one round of an execution: entries, edges, statuses, and members of batches."""
