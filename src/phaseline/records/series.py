"""Several records in a fixed order, as a phase gets them: to iterate over, to filter, to group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from phaseline.records.expression import Expression
from phaseline.records.unparsing import value_text

if TYPE_CHECKING:
    from phaseline.records.record import Record
    from phaseline.records.values import Value

Condition: TypeAlias = "str | Expression | Callable[[Record], object]"
Group: TypeAlias = "None | bool | int | float | str"


class Series(Sequence["Record"]):
    """Records in a fixed order: none can be added or removed, but the records themselves can be written.

    >>> from phaseline.records.record import Record
    >>> nodes = Series([Record({"Name": "a", "Cores": 2}), Record({"Name": "b", "Cores": 8})])
    >>> nodes.filter("Cores > 4").names(), {cores: len(group) for cores, group in nodes.group_by("Cores").items()}
    (['b'], {2: 1, 8: 1})
    """

    __slots__ = ("_count", "_made", "_make")

    def __init__(self, records: Iterable[Record]) -> None:
        """Keep the records in this order."""
        self._made: tuple[Record, ...] | None = tuple(records)
        self._count = len(self._made)
        self._make: Callable[[], tuple[Record, ...]] | None = None

    @classmethod
    def later(cls, count: int, make: Callable[[], tuple[Record, ...]]) -> Series:
        """Return a series of ``count`` records that ``make`` returns when the first record is used."""
        series = cls(())
        series._count, series._made, series._make = count, None, make
        return series

    @property
    def _records(self) -> tuple[Record, ...]:
        if self._made is None:
            assert self._make is not None
            self._made = self._make()
            self._make = None
        return self._made

    @overload
    def __getitem__(self, at: int) -> Record: ...

    @overload
    def __getitem__(self, at: slice) -> Series: ...

    def __getitem__(self, at: int | slice) -> Record | Series:
        """Return one record, or for a slice a series."""
        return Series(self._records[at]) if isinstance(at, slice) else self._records[at]

    def __len__(self) -> int:
        """Return the number of records."""
        return self._count

    def __repr__(self) -> str:
        """Return the number of records, and the names of the first ones."""
        names = ", ".join(str(name) for name in self[:5].names())
        return f"<Series of {len(self)}: {names}{', …' if len(self) > 5 else ''}>"

    def size(self) -> int:
        """Return the number of records."""
        return self._count

    def get(self, at: int) -> Record:
        """Return the record with this index, from 0."""
        return self._records[at]

    def is_empty(self) -> bool:
        """Return True if there are no records."""
        return not self._count

    def filter(self, condition: Condition) -> Series:
        """Return the records that fulfil a condition: an expression or a function.

        A record for which the expression gives an error is left out. Raises: ``ProblemsError`` for a text that is no
        valid expression.
        """
        if callable(condition):
            return Series(record for record in self._records if condition(record))
        expression = Expression(condition) if isinstance(condition, str) else condition
        verdicts = expression.judge_all(self._records)
        return Series(record for record, verdict in zip(self._records, verdicts, strict=True) if verdict is True)

    def group_by(self, attribute: str) -> dict[Group, Series]:
        """Return {value of the attribute: the records with this value}, in the order of first occurrence; the key for
        undefined is None.

        Equal numbers are one group. Lists, records, times and errors are grouped by their text form.
        """
        groups: dict[Group, list[Record]] = {}
        for record in self._records:
            groups.setdefault(_group(record.get(attribute)), []).append(record)
        return {key: Series(members) for key, members in groups.items()}

    def names(self) -> list[str | None]:
        """Return the value of the attribute ``Name`` of each record."""
        return [record.get_as_string("Name") for record in self._records]

    isEmpty, groupBy = is_empty, group_by


def _group(value: Value) -> Group:
    if isinstance(value, float) and not math.isfinite(value):
        return value_text(value)
    return value if value is None or isinstance(value, bool | int | float | str) else value_text(value)
