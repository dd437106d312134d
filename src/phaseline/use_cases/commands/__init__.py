"""The write side, a module a verb."""
