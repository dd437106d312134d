"""The answers of use cases, and their conversion to JSON."""
