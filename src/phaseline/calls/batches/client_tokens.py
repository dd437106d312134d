"""Client tokens, by which a cloud recognises a repeated call, and marks in the environment of a call's processes.

After a crash the engine finds and ends the processes that carry a mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.rows.incarnations import Names


def client_token(names: Names, graph: int, position: int, generation: int) -> str:
    """Return the token of an entry, equal for all attempts until a user's retry raises the entry's generation.

    The token begins with the name that the store had when the graph was made. A store restored from a backup has a new
    name, so that a cloud does not take a new entry for an old one with the same numbers.
    """
    name = names.present if names.is_only else names.of_graph(graph)
    return f"{name}-{graph}-{position}-{generation}"


def process_mark(names: Names, batch: int, member: int) -> str:
    """Return the mark of a member: a text that all processes of its call have in their environment."""
    return f"{names.present}:{batch}:{member}"
