"""The shell that runs plans: the loop, the executors, the calls of plugins and their reports."""
