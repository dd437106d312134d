"""Orders with request ids in the store in memory, and the context that makes several writes one transaction."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from phaseline.model.rows.orders import MOST_ORDERS, GivenBeforeError, GivenOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import Actor
    from phaseline.store.memory.tables import HeldDeployment, MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryOrders:
    """The ``model.rows.orders.OrderShelf`` of the store in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        own: MemoryTenantRows,
        whole: MemoryOrders | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._own = own
        self.rows: dict[tuple[str, str, str], GivenOrder] = {} if whole is None else whole.rows
        """{(tenant, user, request id): order} of all tenants."""

    def find(self, actor: Actor, id: str, since: int = 0) -> GivenOrder | None:
        """Return the order that this user gave under a request id at or after the time ``since`` (ms), or None."""
        found = self.rows.get((self._own.by(actor).tenant, actor.name, id))
        return found if found is not None and found.at >= since else None

    def count(self) -> int:
        """Return the number of stored orders."""
        return sum(self._own.has(tenant) for tenant, *_ in list(self.rows))

    @contextmanager
    def as_one(self, order: NewOrder | None = None) -> Iterator[dict[str, Value]]:
        """Return a context that undoes its writes of deployments, executions and requests if it raises.

        Changes of plans and of package uses are not undone.
        """
        with self._changing() as held:
            answer: dict[str, Value] = {} if order is None else dict(order.answer)
            found = None if order is None else self.find(order.actor, order.id, order.keeps_from)
            if found is not None:
                raise GivenBeforeError(found)
            executions, requests = held.last_execution, held.last_request
            before = {number: copy.copy(known) for number, known in held.deployments.items()}
            try:
                yield answer
            except BaseException:
                _undo(held, before, executions, requests)
                raise
            if order is not None:
                numbers = range(executions + 1, held.last_execution + 1)
                made = [held.executions[number].row.id for number in numbers if number in held.executions]
                asked = range(requests + 1, held.last_request + 1)
                self._add(order, GivenOrder(order.id, order.digest, order.at, tuple(asked), tuple(made), answer))

    def _add(self, order: NewOrder, given: GivenOrder) -> None:
        order.answer = given.answer
        tenant = self._own.by(order.actor).tenant
        known = sorted((row.at, key) for key, row in self.rows.items() if key[0] == tenant)
        kept = [key for at, key in known if at >= order.keeps_from][1 - MOST_ORDERS :]
        for key in {key for _, key in known} - set(kept):
            del self.rows[key]
        self.rows[tenant, order.actor.name, order.id] = given
        order.is_stored = True


def _undo(held: MemoryTables, before: dict[int, HeldDeployment], executions: int, requests: int) -> None:
    """Undo changes: restore the deployments of ``before`` and delete newer executions and requests.

    The numbers of the deleted executions and requests are not given out again.
    """
    for number in range(executions + 1, held.last_execution + 1):
        held.executions.pop(number, None)
    for number in range(requests + 1, held.last_request + 1):
        held.requests.pop(number, None)
    for known in before.values():
        count = len(known.topology)
        for added in [number for number in known.documents if number >= count]:
            del known.documents[added]
    held.deployments.clear()
    held.deployments.update(before)
