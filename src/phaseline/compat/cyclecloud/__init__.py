"""Phase plugins of CycleCloud run unchanged: the handler, its resources, and what comes of their marks (document 1)."""
