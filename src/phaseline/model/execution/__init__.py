"""An execution: its request, the events and commands about it, and its hooks and breakpoints."""
