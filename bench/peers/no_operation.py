"""The empty operation that the peer calls."""


def run(**_inputs):
    """Nothing."""
