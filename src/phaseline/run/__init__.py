"""The shell that runs plans: the loop, the executors, the calls of plugins and what comes back from them."""
