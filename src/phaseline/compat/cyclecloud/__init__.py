"""Phase plugins of CycleCloud run unchanged: the handler, its resources, and the effects of marks (document 1)."""
