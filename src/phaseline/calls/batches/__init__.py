"""A batch as calls: items, bulk calls and trials."""
