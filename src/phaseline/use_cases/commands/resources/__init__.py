"""The write side of resources."""
