"""A deployment: its topology, the states of its instances and their runtime properties."""
