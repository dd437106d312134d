"""A blueprint after it was read; labels, groups and stored blueprints."""
