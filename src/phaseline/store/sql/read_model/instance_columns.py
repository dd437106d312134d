"""Columns of the instances of many deployments, from which their states are counted without reading blueprints."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.resources.resources import REMOVED
from phaseline.store.codec.columns import decode, states_from
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.one_statement import Part, Row

if TYPE_CHECKING:
    from phaseline.model.rows.rows import DeploymentKind
    from phaseline.store.database.connection import Connection

TOLD = """case when instr(nodes, '"gone":[') > 0 or instr(nodes, '"targets":[') > 0 then nodes else '{}' end"""
"""SQL column with a topology's JSON text if it has a ``gone`` or ``targets`` list, which most texts have not."""
_NODE = """case when exists (select 1 from state_name where state_name.deployment = topology.deployment)
    then node else x'' end"""
"""SQL column with the nodes of a topology's instances, empty if none of them was ever on a path of states."""


@frozen
class InstanceColumns:
    """What is stored of the states of one deployment's instances.

    ``names`` are those of its states of resources; ``told`` is its topology's JSON text, as far as it matters.
    """

    number: int
    states: np.ndarray
    names: tuple[str, ...]
    told: str
    node: bytes

    def counts(self, db: Connection, kind: DeploymentKind) -> tuple[dict[int, int], Collection[int]]:
        """Return ({state: number of instances}, life-cycle states that some instance has), without removed instances.

        Raises: ValueError, LookupError or TypeError for a column that cannot be read.
        """
        told, states = json.loads(self.told), self.states
        is_on_path = bool(self.names) and kind != "resources"
        life_cycle = self._life_cycle(db, told.get("targets")) if is_on_path else states
        if "gone" in told:
            there = np.ones(len(states), bool)
            there[told["gone"]] = False
            states, life_cycle = states[there], life_cycle[there]
        found = _counts(states)
        return found, _counts(life_cycle) if is_on_path else found

    def _life_cycle(self, db: Connection, targets: Sequence[str] | None) -> np.ndarray:
        """Return the states of instances, with the states of resources converted to states of node instances.

        ``targets``: the target state of each node. If an old version stored none, read the whole topology.
        """
        from phaseline.model.resources.path_nodes import arrived, as_life_cycle

        if targets is None:
            return as_life_cycle(reads.topology(db, self.number), self.states, self.names)
        return arrived(targets, decode(self.node), self.states, self.names)


def _counts(states: np.ndarray) -> dict[int, int]:
    counts = np.bincount(states)
    present = counts.nonzero()[0]
    found = dict(zip(present.tolist(), counts[present].tolist(), strict=True))
    found.pop(REMOVED, None)
    return found


def column_parts(where: str, values: Sequence[object], *, known: str = "[]") -> list[Part]:
    """Return the parts of a statement that select the columns of deployments, for ``columns_from``.

    ``where``: condition for rows of the table ``deployment``, with its values. ``known``: JSON list of deployments of
    which the states are not selected.
    """
    return [
        Part(
            f"""select deployment.number, instance_count, coalesce(state_page.number, -1), state_page.states
            from deployment left join state_page on state_page.deployment = deployment.number
            and deployment.number not in (select value from json_each(?)) where {where}""",
            "iiib",
            (known, *values),
        ),
        Part(
            f"""select topology.deployment, {TOLD}, {_NODE}
            from deployment join topology on topology.deployment = deployment.number where {where}""",
            "itb",
            values,
        ),
        Part(
            f"""select state_name.deployment, place, state_name.name
            from deployment join state_name on state_name.deployment = deployment.number where {where}""",
            "iit",
            values,
        ),
    ]


class ColumnRows:
    """The rows that the parts of ``column_parts`` have selected, by deployment."""

    def __init__(self, paged: Sequence[Row], told: Sequence[Row], named: Sequence[Row]) -> None:
        """Group the rows; nothing is decoded yet."""
        self._counts: dict[int, int] = {}
        self._pages: dict[int, list[tuple[int, bytes]]] = {}
        for number, count, page, states in paged:
            self._counts[number] = count
            if page >= 0 and states is not None:
                self._pages.setdefault(number, []).append((page, states))
        self._told: dict[int, tuple[str, bytes]] = {number: (text, node) for number, text, node in told}
        self.names = names_from(named)

    def of(self, number: int, states: np.ndarray | None = None) -> InstanceColumns:
        """Return the columns of a deployment. ``states``: its states, if the caller knows them.

        Raises: ValueError for a missing or damaged row.
        """
        told = self._told.get(number)
        if told is None or number not in self._counts:
            raise ValueError("a row of it is missing")
        if states is None:
            states = states_from(self._counts[number], self._pages.get(number, ()))
        return InstanceColumns(number, states, self.names.get(number, ()), *told)


def names_from(rows: Sequence[Row]) -> Mapping[int, tuple[str, ...]]:
    """Return {deployment: names of its states of resources} from (deployment, place, name)."""
    found: dict[int, list[str]] = {}
    for number, _, name in sorted(rows):
        found.setdefault(number, []).append(name)
    return {number: tuple(names) for number, names in found.items()}


def why_unreadable(error: Exception) -> str:
    """Return the reason why a stored value of one deployment cannot be read, for its row of a list."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


UNREADABLE: tuple[type[Exception], ...] = (ValueError, LookupError, TypeError, AttributeError)
"""Errors that decoding a damaged value may raise."""


def counts_from(text: str) -> dict[int, int] | None:
    """Return {state: number of instances} of a stored summary, or None if it cannot be read."""
    try:
        return {int(state): int(count) for state, count in json.loads(text).items()}
    except UNREADABLE:
        return None
