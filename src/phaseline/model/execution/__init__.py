"""An execution: its request, its events and commands, the hooks and breakpoints that are pinned to it."""
