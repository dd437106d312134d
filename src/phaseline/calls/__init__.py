"""Calls of plugins: protocol, threads, the deployments that calls read, and batches."""
