"""Records of the dependencies between deployments in a database (DP5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from phaseline.model.rows.dependencies import ConsumerRecord, Dependency
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

_COLUMNS = "kind, creator, function, provider, number, instance"
_OF = f"select {_COLUMNS} from dependency where deployment = ? order by position"
_ADD = f"""insert into dependency (tenant, deployment, position, {_COLUMNS})
    select tenant, ?, ?, ?, ?, ?, ?, ?, ? from deployment where number = ?"""
_CONSUMERS = """select record.deployment from dependency record
        join deployment asked on asked.number = ? and asked.deleted_at = 0
        join deployment consumer on consumer.number = record.deployment and consumer.deleted_at = 0
        where record.tenant = asked.tenant and record.provider = asked.name and record.deployment <> asked.number
    union select record.deployment from dependency record
        join deployment consumer on consumer.number = record.deployment and consumer.deleted_at = 0
        where record.number = ? and record.deployment <> ?"""
_ON = f"""select record.deployment, consumer.name, record.kind, record.creator, record.function, record.provider,
        record.number, record.instance
    from dependency record
    join deployment asked on asked.number = ?
    join deployment consumer on consumer.number = record.deployment
    where record.deployment in (select deployment from ({_CONSUMERS}) found
            where deployment > ? order by deployment limit ?)
        and (record.number = asked.number or (record.tenant = asked.tenant and record.provider = asked.name))
    order by record.deployment, record.position"""


class SqlDependencies:
    """Records of dependencies in a database: the methods of the port ``DependencyShelf``."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def of(self, consumer: int) -> Sequence[Dependency]:
        """Return the records of a consumer, in the order in which they were written."""
        with self._reading() as db:
            own = self._rows.own(db, "deployment", consumer)
            return [Dependency(*row) for row in db.execute(_OF, (own,)).fetchall()]

    def on(self, provider: int, *, after: int = 0, limit: int = 1_000_000) -> Sequence[ConsumerRecord]:
        """Return the records about a living deployment, of at most ``limit`` consumers with numbers above ``after``."""
        with self._reading() as db:
            own = self._rows.own(db, "deployment", provider)
            rows = db.execute(_ON, (own, own, own, own, after, limit)).fetchall()
            return [ConsumerRecord(number, name, Dependency(*record)) for number, name, *record in rows]

    def count_on(self, provider: int) -> int:
        """Return how many other living deployments have a record about this one."""
        with self._reading() as db:
            own = self._rows.own(db, "deployment", provider)
            return int(db.execute(f"select count(*) from ({_CONSUMERS}) found", (own, own, own)).fetchone()[0])

    def replace(self, consumer: int, dependencies: Sequence[Dependency]) -> None:
        """Replace all records of a consumer."""
        with self._writing() as db:
            replace(db, self._rows.require(db, "deployment", consumer), dependencies)


def replace(db: Connection, consumer: int, dependencies: Iterable[Dependency]) -> None:
    """Replace all records of a consumer."""
    db.execute("delete from dependency where deployment = ?", (consumer,))
    add(db, consumer, dependencies)


def add(db: Connection, consumer: int, dependencies: Iterable[Dependency]) -> None:
    """Store the records of a consumer that has none."""
    db.executemany(_ADD, [(consumer, place, *one, consumer) for place, one in enumerate(dependencies)])
