"""Client tokens, by which a cloud recognises a repeated call, and marks, by which the processes of a call are found again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.rows.incarnations import Names


def client_token(names: Names, graph: int, position: int, generation: int) -> str:
    """The token of one entry: equal for all attempts until a user retries the entry, which raises its generation.

    The token begins with the name that the store had when the graph was made. A store that was restored from a backup has
    another name, so that a cloud does not take a new entry for an old one with the same numbers.
    """
    name = names.present if names.is_only else names.of_graph(graph)
    return f"{name}-{graph}-{position}-{generation}"


def process_mark(names: Names, batch: int, member: int) -> str:
    """The mark of one member of a batch, kept in the environment of its processes."""
    return f"{names.present}:{batch}:{member}"
