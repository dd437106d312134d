"""The read side of plugin packages."""
