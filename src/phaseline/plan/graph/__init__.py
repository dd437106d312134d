"""Parts of a graph: drafts, sequences, participants and call policies."""
