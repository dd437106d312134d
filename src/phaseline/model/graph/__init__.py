"""One round of work: entries, edges, statuses and members of batches."""
