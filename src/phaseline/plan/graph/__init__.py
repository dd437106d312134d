"""The parts from which planners make graphs: drafts, sequences, participants and call policies."""
