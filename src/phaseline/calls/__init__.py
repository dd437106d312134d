"""What a call of a plugin is: protocol, threads, the deployments that it reads, and batches."""
