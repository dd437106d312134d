"""Records of the dependencies between deployments in a database (DP5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from phaseline.model.rows.dependencies import ConsumerRecord, Dependency
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

_COLUMNS = "kind, creator, function, provider, number, instance"
_OF = f"select {_COLUMNS} from dependency where deployment = ? order by position"
_ADD = f"""insert into dependency (tenant, deployment, position, {_COLUMNS})
    select tenant, ?, ?, ?, ?, ?, ?, ?, ? from deployment where number = ?"""
_ASKED = "select tenant, name from deployment where number = ? and deleted_at = 0"
_BY_NAME = """select distinct deployment from dependency
    where tenant = ? and provider = ? and deployment > ? order by deployment limit ?"""
_BY_NUMBER = """select distinct deployment from dependency
    where number = ? and number > 0 and deployment > ? order by deployment limit ?"""
_ON = f"""select record.deployment, consumer.name, {", ".join(f"record.{name.strip()}" for name in _COLUMNS.split(","))}
    from dependency record join deployment consumer on consumer.number = record.deployment
    where record.deployment in (select value from json_each(?)) and record.deployment <> ? and consumer.deleted_at = 0
        and (record.number = ? or (record.tenant = ? and record.provider = ?))
    order by record.deployment, record.position"""
_COUNT = """select count(*) from (
    select deployment from dependency where tenant = ? and provider = ?
    union select deployment from dependency where number = ? and number > 0) found
    join deployment on deployment.number = found.deployment and deployment.deleted_at = 0
    where found.deployment <> ?"""


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
            asked = db.execute(_ASKED, (own,)).fetchone()
            found: list[ConsumerRecord] = []
            count = 0
            while asked is not None and count < limit:
                numbers = {number for (number,) in db.execute(_BY_NAME, (*asked, after, limit)).fetchall()}
                numbers |= {number for (number,) in db.execute(_BY_NUMBER, (own, after, limit)).fetchall()}
                page = sorted(numbers)[: limit - count]
                if not page:
                    break
                rows = db.execute(_ON, (to_text(page), own, own, *asked)).fetchall()
                found += [ConsumerRecord(number, name, Dependency(*record)) for number, name, *record in rows]
                count += len({number for number, *_ in rows})
                after = page[-1]
            return found

    def count_on(self, provider: int) -> int:
        """Return how many other living deployments have a record about this one."""
        with self._reading() as db:
            own = self._rows.own(db, "deployment", provider)
            asked = db.execute(_ASKED, (own,)).fetchone()
            return 0 if asked is None else int(db.execute(_COUNT, (*asked, own, own)).fetchone()[0])

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
