"""Names of the holders of leases."""

from __future__ import annotations

import os

HOLDER_BYTES = 16
"""Length of the random name of a holder, in bytes."""


def new_holder() -> str:
    """Return a random name for an ownership of a store; process ids are used again, these names are not."""
    return os.urandom(HOLDER_BYTES).hex()
