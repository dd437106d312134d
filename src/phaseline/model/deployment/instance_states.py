"""The states of a node instance, as small integers that fit into a byte.

The states are Cloudify's (spec section 1), in the order of the life cycle. The numbers are stored and never change.
"""

from __future__ import annotations

from enum import IntEnum


class InstanceState(IntEnum):
    """The state of a node instance in its life cycle."""

    UNINITIALIZED = 0
    INITIALIZING = 1
    CREATING = 2
    CREATED = 3
    CONFIGURING = 4
    CONFIGURED = 5
    STARTING = 6
    STARTED = 7
    STOPPING = 8
    STOPPED = 9
    DELETING = 10
    DELETED = 11
    SUSPENDED = 12

    @property
    def word(self) -> str:
        """The name that users see, such as ``started``."""
        return self.name.lower()
