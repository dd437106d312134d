"""Both ends of the ``ctx`` program."""
