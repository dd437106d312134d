"""The state of one running evaluation: remaining steps, clock, and the attributes being evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.records.values import ErrorValue

if TYPE_CHECKING:
    from phaseline.records.expression import Expression
    from phaseline.records.record import Record
    from phaseline.records.values import Value

BUDGET = 100_000
"""Number of steps that one evaluation may take: one for each part of an expression, more for long texts and lists."""
FREE = 1_024
"""Number of characters or elements that an evaluation handles without using its budget of steps."""
CHARACTERS_A_STEP = 64


class Exhausted(Exception):
    """The budget of steps is spent and the evaluation ends. Code outside this package never sees it."""


class EvaluationState:
    """The state of one evaluation, shared by its closures. ``now`` is seconds since the epoch, or None without a clock."""

    __slots__ = ("active", "now", "steps")

    def __init__(self, now: float | None = None) -> None:
        """Begin an evaluation with the whole budget of steps."""
        self.steps = BUDGET
        self.now = now
        self.active: dict[tuple[int, str], str] = {}

    def spend(self, steps: int) -> None:
        """Take steps from the budget. Raises ``Exhausted``."""
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted

    def read(self, length: int) -> None:
        """Take from the budget the cost of reading a text or list of this length."""
        if length > FREE:
            self.spend(length // CHARACTERS_A_STEP)

    def attribute(self, scope: Record, key: str, expression: Expression) -> Value:
        """Return the value of an attribute that is an expression, evaluated in the record that contains the attribute.

        If the attribute depends on itself, the result is an error with the chain of names.
        """
        frame = (id(scope), key)
        if frame in self.active:
            names = list(self.active.values())[list(self.active).index(frame) :]
            return ErrorValue("cycle: " + " → ".join([*names, names[0]]))
        self.spend(expression.cost)
        self.active[frame] = scope.spelling(key)
        try:
            return expression.run(scope, self)
        finally:
            del self.active[frame]
