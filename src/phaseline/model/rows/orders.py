"""Orders that have a request id: carried out once, however often they are given (ADR 0032)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen, mutable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import Actor

MOST_ORDERS = 100_000
"""Rows of orders that a store keeps; the oldest go first."""


@mutable
class RequestId:
    """A request id in use. ``is_repeated``: an order under it had been given before; ``is_taken``: some command gave an order under it."""

    id: str
    is_repeated: bool = False
    is_taken: bool = False


@mutable
class NewOrder:
    """An order that is about to be stored, with what it causes.

    ``keeps_from``: rows of orders that were given earlier (ms) are forgotten. ``answer``: what the answer needs beside the executions and requests.
    ``is_stored``: its transaction is over.
    """

    id: str
    digest: str
    at: int
    actor: Actor
    keeps_from: int = 0
    answer: dict[str, Value] = field(default_factory=dict)
    is_stored: bool = False


@frozen
class GivenOrder:
    """A stored order. ``requests``: numbers; ``executions``: ids of those that were made; both in the order in which they were made."""

    id: str
    digest: str
    at: int
    requests: Sequence[int]
    executions: Sequence[str]
    answer: dict[str, Value]


class GivenBeforeError(Exception):
    """An order with this request id is stored already: nothing of the new one was written."""

    def __init__(self, given: GivenOrder) -> None:
        """``given``: the stored one."""
        super().__init__(given.id)
        self.given = given


class OrderShelf(Protocol):
    """Orders with request ids; they are added by ``Store.as_one``."""

    def find(self, actor: Actor, id: str, since: int = 0) -> GivenOrder | None:
        """Return the order that this user gave under a request id, unless before ``since`` (ms)."""
        ...

    def count(self) -> int:
        """Return how many are kept."""
        ...
