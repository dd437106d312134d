"""Conditions of a statement, and the order of texts in a database."""

from __future__ import annotations

CHOSEN = "in (select value from json_each(?))"
LAST = "\U0010ffff"
"""Largest character. For any beginning B, all texts that begin with B sort before B + LAST."""


class WhereClause:
    """The conditions of a statement, with their values."""

    def __init__(self, *always: str) -> None:
        """``always``: conditions without values, which the statement has in any case."""
        self._texts = list(always)
        self.values: list[object] = []

    def add(self, text: str, *values: object) -> None:
        """Add one condition, which must hold too."""
        self._texts.append(text)
        self.values.extend(values)

    def add_beginning(self, column: str, text: str) -> None:
        """Require that a column begins with the text. Two bounds express this, so that SQLite can search an index."""
        self.add(
            f"{column} >= ? and {column} < cast(? as text) || '{LAST}' and substr({column}, 1, ?) = ?",
            text,
            text,
            len(text),
            text,
        )

    def copy(self) -> WhereClause:
        """Return conditions to which others can be added without changing these."""
        found = WhereClause(*self._texts)
        found.values = list(self.values)
        return found

    def __str__(self) -> str:
        """Return the ``where`` clause of the statement; empty if there is no condition."""
        return f" where {' and '.join(self._texts)}" if self._texts else ""
