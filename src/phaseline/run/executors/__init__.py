"""Executors in threads and in worker processes."""
