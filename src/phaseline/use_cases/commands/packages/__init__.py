"""The write side of plugin packages."""
