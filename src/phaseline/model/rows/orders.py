"""Orders that have a request id: each is carried out once, even if it is sent several times (ADR 0032)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen, mutable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import Actor

MOST_ORDERS = 100_000
"""Most orders of a tenant that a store keeps; the oldest are deleted first."""


@mutable
class RequestId:
    """A request id in use. ``is_repeated``: it was used before this command.

    ``is_taken``: this command gave an order with it.
    """

    id: str
    is_repeated: bool = False
    is_taken: bool = False


@mutable
class NewOrder:
    """An order that is about to be stored together with its effects.

    Orders given before ``keeps_from`` (ms) are deleted. ``answer`` has what the answer needs besides executions and
    requests. ``is_stored``: its transaction has ended.
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
    """A stored order.

    ``requests`` are numbers and ``executions`` ids of those that it made, in the order in which they were made.
    """

    id: str
    digest: str
    at: int
    requests: Sequence[int]
    executions: Sequence[str]
    answer: dict[str, Value]


class GivenBeforeError(Exception):
    """An order with this request id is already stored, so nothing of the new order was written."""

    def __init__(self, given: GivenOrder) -> None:
        """``given`` is the stored order."""
        super().__init__(given.id)
        self.given = given


class OrderShelf(Protocol):
    """Orders with request ids; they are added by ``Store.as_one``."""

    def find(self, actor: Actor, id: str, since: int = 0) -> GivenOrder | None:
        """Return the order that a user gave with this request id since ``since`` (ms), or None."""
        ...

    def count(self) -> int:
        """Return the number of stored orders."""
        ...
