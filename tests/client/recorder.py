"""A client that carries nothing out: it answers with the name of the operation and what was passed."""

from __future__ import annotations

from typing import Any

from phaseline.client.client import Client
from phaseline.client.operations import ClientOperation


class Recorder(Client):
    """Shows what the words of a method become."""

    def _call(self, op: ClientOperation[Any], /, **arguments: object) -> Any:
        return op.name, arguments
