"""Lane keys: entries with different keys are never in one call. Keys are values of expressions on node instances."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import some
from phaseline.model.execution.events import Evaluated
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.engine.arena import Arena
    from phaseline.engine.lanes.lanes import Lanes
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Evaluate

INSTANCE = int(SubjectKind.INSTANCE)
NUMBERS_KEPT = 10_000
"""The number of values whose key numbers are remembered before unused ones are removed."""


def value_at(document: Value, path: str) -> Value:
    """Return the value at a dotted path, or None if the path does not exist."""
    for part in path.split("."):
        document = document.get(part) if isinstance(document, dict) else None
    return document


class LaneKeys:
    """Numbers for the values of key expressions. Equal values get equal numbers while this engine runs."""

    def __init__(self) -> None:
        """Start without values."""
        self._numbers: dict[object, int] = {}
        self._next, self._looks_at = 0, NUMBERS_KEPT

    def trim(self, lanes: Lanes) -> None:
        """If many values are remembered, forget those whose numbers no lane and no rate limit uses.

        No number is given twice. If an entry with a forgotten value has not reached its lane yet, later entries with
        that value get another number. Then two calls are made where one would do.
        """
        if len(self._numbers) > self._looks_at:
            used = lanes.rates.keys.union(key for _, key in lanes.by_key)
            self._numbers = {seen: number for seen, number in self._numbers.items() if number in used}
            self._looks_at = max(NUMBERS_KEPT, 2 * len(self._numbers))

    def answer(self, asked: Evaluate, arena: Arena, loaded: Callable[[int], LoadedDeployment]) -> Evaluated | None:
        """Return the keys that the scheduler asks for, or None if the graph was dropped in the same turn."""
        slot = arena.slots.get(asked.graph)
        if slot is None:
            return None
        positions = asked.positions + slot.base
        kinds, subjects = arena.kind[positions], arena.subject[positions]
        deployment = loaded(slot.deployment)
        return self.evaluate(asked.graph, asked.positions, kinds, subjects, asked.expression, deployment)

    def evaluate(
        self, graph: int, positions: np.ndarray, kinds: np.ndarray, subjects: np.ndarray, expression: str,
        deployment: LoadedDeployment,
    ) -> Evaluated:  # fmt: skip
        """Return the key of each entry: the number of the value of ``expression`` for the entry's instance.

        Expressions are ``properties.x``, ``runtime_properties.x``, ``inputs.x`` and ``deployment.id``. Entries of
        relationships use the source instance.
        """
        topology = deployment.topology
        of_relationship = kinds != INSTANCE
        instances = subjects.copy()
        if some(of_relationship):
            instances[of_relationship] = topology.source[subjects[of_relationship]]
        values = np.empty(len(positions), np.int32)
        root, _, rest = expression.partition(".")
        by_node: dict[int, int] = {}
        for place, instance in enumerate(instances.tolist()):
            node = int(topology.node[instance])
            fixed = root == "properties" and not topology.nodes[node].has_functions
            number = by_node.get(node) if fixed else None
            if number is None:
                number = by_node[node] = self.number(expression, self._value(deployment, instance, root, rest))
            values[place] = number
        return Evaluated(graph, positions, "key", values)

    @staticmethod
    def _value(deployment: LoadedDeployment, instance: int, root: str, rest: str) -> Value:
        match root:
            case "properties":
                try:
                    found = deployment.instance_view(instance).node.properties
                except ProblemsError:
                    return None  # the call meets the same problem and reports it
            case "runtime_properties":
                found = deployment.document_of(instance)
            case "inputs":
                found = deployment.inputs
            case "deployment":
                found = {"id": deployment.view.id}
            case _:
                return None
        return value_at(dict(found), rest) if rest else None

    def number(self, expression: str, value: Value) -> int:
        """Return the number for a value of an expression; a new value gets a new number."""
        seen: object = (expression, value)
        if not isinstance(value, str):  # most are names of a region or an account
            seen = json.dumps([expression, value], sort_keys=True, default=str)
        found = self._numbers.get(seen)
        if found is None:
            found = self._numbers[seen] = self._next
            self._next += 1
        return found
