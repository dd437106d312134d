"""Use cases that change resources."""
