"""Numbers that identify the function that is called for each subject; the engine knows functions only by these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.topology import Topology

INSTANCE, SOURCE, TARGET = int(SubjectKind.INSTANCE), int(SubjectKind.SOURCE), int(SubjectKind.TARGET)
NOBODYS = 0
"""The number for subjects for which no function is called."""


class Functions:
    """Numbers of the functions of a deployment. Equal numbers mean the same function of the same code, in any deployment.

    The numbers are valid in this process only. Two different functions get one number with a probability of 1 in 2⁶⁴.
    """

    __slots__ = ("_code", "_tables", "_topology")

    def __init__(self, topology: Topology, code: CodeLocation) -> None:
        """Prepare for this topology and code; numbers are computed when they are first requested."""
        self._topology, self._code = topology, hash(code)
        self._tables: dict[tuple[str, int], np.ndarray] = {}

    def number(self, operation: str, kind: int, subject: int) -> int:
        """Return the number of the function that the operation (its full name) calls for a subject."""
        topology = self._topology
        if kind == INSTANCE:
            return self._number(self._mapped(operation, kind, topology.node.item(subject)))
        if kind in {SOURCE, TARGET}:
            return self._number(self._mapped(operation, kind, topology.link.item(subject)))
        return NOBODYS

    def numbers(self, operation: str, kind: int, subjects: np.ndarray) -> np.ndarray:
        """Return the numbers of the functions that the operation calls for many subjects of a kind, int64."""
        topology = self._topology
        if len(subjects) == 1:
            return np.array([self.number(operation, kind, subjects.item())], np.int64)
        if kind not in {INSTANCE, SOURCE, TARGET}:
            return np.full(len(subjects), NOBODYS, np.int64)
        table = self._tables.get((operation, kind))
        if table is None:
            count = len(topology.nodes if kind == INSTANCE else topology.links)
            numbers = [self._number(self._mapped(operation, kind, place)) for place in range(count)]
            is_one = len(set(numbers)) == 1  # the usual case: no lookup by subject is needed
            table = self._tables[operation, kind] = np.array(numbers[:1] if is_one else numbers, np.int64)
        if len(table) == 1:
            return np.broadcast_to(table, len(subjects))
        found: np.ndarray = table[(topology.node if kind == INSTANCE else topology.link)[subjects]]
        return found

    def _mapped(self, operation: str, kind: int, place: int) -> Operation | None:
        """Return what an operation is mapped to at node or link number ``place``, or None; ``kind`` gives the meaning of ``place``."""
        if kind == INSTANCE:
            return self._topology.nodes[place].operations.get(operation)
        relationship = self._topology.links[place].relationship
        sided = relationship.source_operations if kind == SOURCE else relationship.target_operations
        return sided.get(operation)

    def _number(self, mapped: Operation | None) -> int:
        is_function = mapped is not None and mapped.form == "function"
        return hash((self._code, mapped.implementation)) if mapped is not None and is_function else NOBODYS
