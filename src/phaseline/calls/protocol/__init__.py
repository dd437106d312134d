"""The call itself, for whoever makes or carries one."""
