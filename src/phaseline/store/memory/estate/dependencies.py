"""Records of the dependencies between deployments of the store in memory (DP5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from phaseline.model.rows.dependencies import ConsumerDependencies, ConsumerRecord, Dependency
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryDependencies:
    """Records of dependencies in a store in memory: the methods of the port ``DependencyShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        held: MemoryTables,
        own: MemoryTenantRows,
        whole: MemoryDependencies | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._held = held
        self._own = own
        self.rows: dict[int, tuple[Dependency, ...]] = {} if whole is None else whole.rows
        """{consumer: its records} of all tenants."""

    def of(self, consumer: int) -> Sequence[Dependency]:
        """Return the records of a consumer, in the order in which they were written."""
        return list(self.rows.get(self._own.deployment(consumer), ()))

    def on(self, provider: int, *, after: int = 0, limit: int = 1_000_000) -> Sequence[ConsumerRecord]:
        """Return the records about a living deployment, of at most ``limit`` consumers with numbers above ``after``."""
        found: list[ConsumerRecord] = []
        for count, (number, name, records) in enumerate(
            (number, name, records) for number, name, records in self._consumers(provider) if number > after
        ):
            if count == limit:
                break
            found.extend(ConsumerRecord(number, name, record) for record in records)
        return found

    def count_on(self, provider: int) -> int:
        """Return how many other living deployments have a record about this one."""
        return sum(1 for _ in self._consumers(provider))

    def _consumers(self, provider: int) -> Iterator[tuple[int, str, list[Dependency]]]:
        """Yield (number, name, records about ``provider``) of its living consumers, sorted by number."""
        asked = self._held.deployments.get(self._own.deployment(provider))
        if asked is None or asked.deleted_at:
            return
        for number, records in sorted(self.rows.items()):
            consumer = self._held.deployments.get(number)
            if number == provider or consumer is None or consumer.deleted_at:
                continue
            is_beside = consumer.row.tenant == asked.row.tenant
            about = [
                one
                for one in records
                if one.number == provider or (is_beside and one.provider != "" and one.provider == asked.row.name)
            ]
            if about:
                yield number, consumer.row.name, about

    def replace(self, consumer: int, dependencies: Sequence[Dependency]) -> None:
        """Replace all records of a consumer."""
        with self._changing():
            self._own.require(self._own.deployment(consumer), "deployment")
            self.rows[consumer] = tuple(dependencies)

    def write(self, changes: Iterable[ConsumerDependencies]) -> None:
        """Write the records that a turn of the engine brings."""
        self.rows.update(changes)

    def forget(self, kept: Collection[int]) -> None:
        """Remove the records of deployments that are not in ``kept``, for a purge."""
        for number in [number for number in self.rows if number not in kept]:
            del self.rows[number]
