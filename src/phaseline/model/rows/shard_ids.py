"""Ids of graphs and batches: the upper 16 bits are the number of the shard that made them, the others count up in it.

Each shard has a scheduler of its own, which counts its ids without asking any other one. In shard 0, the only one that
is used, an id is a plain number.

>>> shard_of(7), number_of(7)
(0, 7)
>>> first_id(2) == 2 << 48 | 1, shard_of(first_id(2)), number_of(first_id(2))
(True, 2, 1)
"""

from __future__ import annotations

from phaseline.model.rows.rows import IDS_OF_A_SHARD

LAST_SHARD = (1 << 15) - 1
"""Highest number of a shard: of the upper 16 bits the first one is the sign, because databases store signed numbers."""


def first_id(shard: int) -> int:
    """Return the first id of a shard. Raises: ValueError for a number that no shard can have."""
    if not 0 <= shard <= LAST_SHARD:
        raise ValueError(f"shards are numbered from 0 to {LAST_SHARD}, not {shard}")
    return shard * IDS_OF_A_SHARD + 1


def last_id(shard: int) -> int:
    """Return the last id that a shard may give.

    >>> last_id(0) + 2 == first_id(1)
    True
    """
    return first_id(shard) + IDS_OF_A_SHARD - 2


def shard_of(id: int) -> int:
    """Return the number of the shard that made an id."""
    return id // IDS_OF_A_SHARD


def number_of(id: int) -> int:
    """Return the number of an id within its shard, counted from 1."""
    return id % IDS_OF_A_SHARD


def next_id(shard: int, latest: int | None) -> int:
    """Return the id after ``latest``, the highest one that the shard has given so far; None or 0: it has given none.

    >>> next_id(0, 0), next_id(0, 41), next_id(1, None) == first_id(1)
    (1, 42, True)
    """
    return max(first_id(shard), (latest or 0) + 1)
