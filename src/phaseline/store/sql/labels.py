"""Labels of deployments in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.blueprint.labels import Label
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql.read_model.one_statement import CHOSEN

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

_TENANT_OF = "(select deployment.tenant from deployment where deployment.number = label.deployment)"


class SqliteLabels:
    """Labels of deployments in a SQLite file: the methods of the port ``LabelShelf``."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def of(self, deployment: int) -> Sequence[Label]:
        """Return the labels of a deployment, sorted by key and value."""
        with self._reading() as db:
            own = self._rows.own(db, "deployment", deployment)
            rows = db.execute("select key, value from label where deployment = ?", (own,)).fetchall()
            return sorted(Label(key, value) for key, value in rows)

    def of_many(self, deployments: Sequence[int]) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels, sorted by key and value}, without deployments that have none."""
        found: dict[int, list[Label]] = {}
        with self._reading() as db:
            own = to_text(list(self._rows.own_all(db, "deployment", deployments)))
            rows = db.execute(f"select deployment, key, value from label where deployment {CHOSEN}", (own,)).fetchall()
            for deployment, key, value in sorted(rows):
                found.setdefault(deployment, []).append(Label(key, value))
        return found

    def with_key(self, key: str) -> Mapping[int, Sequence[Label]]:
        """Return {deployment: its labels with a key, sorted by value}, without deployments that have none."""
        found: dict[int, list[Label]] = {}
        with self._reading() as db:
            where, values = self._rows.where("key = ?", key, column=_TENANT_OF)
            for deployment, value in db.execute(
                f"select deployment, value from label where {where} order by value", values
            ):
                found.setdefault(deployment, []).append(Label(key, value))
        return found

    def add(self, deployment: int, labels: Sequence[Label]) -> int:
        """Add labels to a deployment; return the number of those that it did not have."""
        with self._writing() as db:
            return add_labels(db, self._rows.require(db, "deployment", deployment), labels)

    def remove(self, deployment: int, labels: Sequence[Label]) -> int:
        """Remove labels from a deployment; return the number removed.

        A label with an empty value selects all of its key.
        """
        with self._writing() as db:
            return remove_labels(db, self._rows.own(db, "deployment", deployment), labels)

    def having(self, labels: Sequence[Label]) -> frozenset[int]:
        """Return the deployments that have all these labels. A label with an empty value matches any value."""
        with self._reading() as db:
            texts, values = zip(*having(labels), strict=True) if labels else ((), ())
            found = [value for each in values for value in each]
            where, chosen = self._rows.where(" and ".join(texts) or "false", *found)
            rows = db.execute(f"select number from deployment where {where}", chosen)
            return frozenset(number for (number,) in rows)


def having(labels: Iterable[Label]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the SQL conditions for deployments that have all these labels, each with its values.

    A label with an empty value matches any value of its key.
    """
    which = "number in (select deployment from label where key = ?"
    return [
        (f"{which} and value = ?)", (label.key, label.value)) if label.value else (f"{which})", (label.key,))
        for label in dict.fromkeys(labels)
    ]


def remove_labels(db: Connection, deployment: int, labels: Iterable[Label]) -> int:
    """Remove labels from a deployment; return the number removed.

    A label with an empty value selects all of its key.
    """
    gone = "delete from label where deployment = ? and key = ?"
    return sum(
        db.execute(f"{gone} and value = ?", (deployment, key, value)).rowcount
        if value
        else db.execute(gone, (deployment, key)).rowcount
        for key, value in labels
    )


def add_labels(db: Connection, deployment: int, labels: Iterable[Label]) -> int:
    """Add labels to a deployment; return the number of those that it did not have."""
    add = "insert into label (deployment, key, value) values (?, ?, ?) on conflict (deployment, key, value) do nothing"
    return sum(db.execute(add, (deployment, key, value)).rowcount for key, value in labels)
