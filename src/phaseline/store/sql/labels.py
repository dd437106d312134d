"""Labels of deployments in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from phaseline.model.blueprint.labels import Label
from phaseline.store.codec.json_documents import to_text

Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]


class SqliteLabels:
    """Labels of deployments in a SQLite file: the methods of the port ``LabelShelf``."""

    def __init__(self, reading: Connect, writing: Connect) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing

    def of(self, deployment: int) -> Sequence[Label]:
        """Return the labels of a deployment, sorted by key and value."""
        with self._reading() as db:
            rows = db.execute("select key, value from label where deployment = ?", (deployment,)).fetchall()
            return sorted(Label(key, value) for key, value in rows)

    def add(self, deployment: int, labels: Sequence[Label]) -> int:
        """Add labels to a deployment; return the number of those that it did not have."""
        with self._writing() as db:
            return add_labels(db, deployment, labels)

    def remove(self, deployment: int, labels: Sequence[Label]) -> int:
        """Remove labels from a deployment; return the number removed.

        A label with an empty value selects all of its key.
        """
        with self._writing() as db:
            return remove_labels(db, deployment, labels)

    def having(self, labels: Sequence[Label]) -> frozenset[int]:
        """Return the deployments that have all these labels. A label with an empty value matches any value."""
        wanted = list(dict.fromkeys(labels))
        with self._reading() as db:
            rows = db.execute(
                """select deployment from label join json_each(?) wanted
                on label.key = json_extract(wanted.value, '$[0]') and json_extract(wanted.value, '$[1]') in ('', label.value)
                group by deployment having count(distinct wanted.key) = ?""",
                (to_text([list(label) for label in wanted]), len(wanted)),
            ).fetchall()
            return frozenset(number for (number,) in rows)


def remove_labels(db: sqlite3.Connection, deployment: int, labels: Iterable[Label]) -> int:
    """Remove labels from a deployment; return the number removed.

    A label with an empty value selects all of its key.
    """
    gone = "delete from label where deployment = ? and key = ? and ? in ('', value)"
    return sum(db.execute(gone, (deployment, key, value)).rowcount for key, value in labels)


def add_labels(db: sqlite3.Connection, deployment: int, labels: Iterable[Label]) -> int:
    """Add labels to a deployment; return the number of those that it did not have."""
    add = "insert or ignore into label values (?, ?, ?)"
    return sum(db.execute(add, (deployment, key, value)).rowcount for key, value in labels)
