"""A deployment: its instances and relationships (topology), their states and their runtime properties."""
