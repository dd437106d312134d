"""Decide how operations are called: their lane, retries and time-out.

Operations that are called alike share one policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered, frozen, mutable
from phaseline.model.blueprint.blueprint import SCRIPT_RUNNER, Operation
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.graph.graph import LaneSpec, Policy
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.model.execution.execution import RetryPolicy

Declare = Callable[[Operation], Declaration]
"""Function that returns the declaration of the plugin function behind an operation. It is never called for scripts."""

MAX_POLICIES = 65_535
SCRIPT = Declaration(flavour="cloudify")


@frozen
class PolicyOverrides:
    """Settings of a workflow that change how an operation is called.

    ``once`` makes the first failure final. Each other field replaces the field of ``Policy`` that has the same name.
    """

    until_true: bool = False
    once: bool = False
    enter: tuple[int, ...] = ()
    leave: tuple[int, ...] = ()


@mutable
class Policies:
    """The policies of a graph under construction, each with a number.

    A policy has two kinds of numbers. ``add`` numbers policies before states are added. ``final`` numbers the
    combinations of a policy with the states that are set before and after its calls; these numbers index the graph's
    table.
    """

    declare: Declare
    retries: RetryPolicy
    callings: dict[Policy, int] = field(default_factory=dict)
    _final: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = field(default_factory=dict)

    def numbering(self, manner: PolicyOverrides) -> Callable[[Operation], int]:
        """Return a function that takes an operation and returns the number of its policy, as ``add`` numbers policies.

        ``manner`` are the workflow's settings for calling these operations.
        """
        numbers: dict[object, int] = {}
        declare = self.declare
        kept: dict[int, Declaration] = {}  # kept alive, so that no id is used twice

        def number(operation: Operation) -> int:
            is_script = operation.form != "function" or operation.implementation == SCRIPT_RUNNER  # asked 50,000 times
            declared = SCRIPT if is_script else declare(operation)
            if id(declared) not in kept:
                kept[id(declared)] = declared
            key = (
                operation.name,
                is_script,
                id(declared),
                operation.max_retries,
                operation.retry_interval_s,
                operation.timeout_s,
                operation.timeout_recoverable,
            )
            found = numbers.get(key)
            if found is None:
                found = numbers[key] = self.add(self._policy(operation, declared, manner))
            return found

        return number

    def absent(self) -> int:
        """Return the number of the policy for entries that are never called."""
        return self.add(Policy(LaneSpec("")))

    def final(self, number: int, before: tuple[int, ...], after: tuple[int, ...]) -> int:
        """Return the number, in the graph's table, of policy ``number`` with these states before and after calls."""
        return self._final.setdefault((number, before, after), len(self._final))

    def table(self) -> tuple[Policy, ...]:
        """Return the graph's policy table.

        Raises: PL-P003 if the table has more policies than the graph can number.
        """
        if len(self._final) > MAX_POLICIES:
            raise problem_error(
                "PL-P003",
                f"operations are to be called in {len(self._final):,} different ways",
                f"at most {MAX_POLICIES:,} combinations of lane, retries and time-out fit one graph: give operations equal ones",
            )
        found = []
        callings = list(self.callings)
        for number, before, after in self._final:
            calling = callings[number]
            if before or after:
                calling = altered(calling, enter=before + calling.enter, leave=calling.leave + after)
            found.append(calling)
        return tuple(found)

    def add(self, policy: Policy) -> int:
        """Return the number of a policy without the states set around its calls; a new policy gets the next number."""
        return self.callings.setdefault(policy, len(self.callings))

    def _backoff(self) -> tuple[int, ...]:
        return tuple([round(1000 * span) for span in self.retries.backoff_s])

    def _policy(self, operation: Operation, declared: Declaration, manner: PolicyOverrides) -> Policy:
        retries = self.retries.task_retries if operation.max_retries is None else operation.max_retries
        interval = operation.retry_interval_s
        return Policy(
            lane=lane(operation, declared),
            max_retries=-1 if manner.until_true else 0 if manner.once else retries,
            retry_interval_ms=round(1000 * (self.retries.task_retry_interval_s if interval is None else interval)),
            timeout_ms=round(1000 * (operation.timeout_s or 0)),
            timeout_recoverable=operation.timeout_recoverable,
            until_true=manner.until_true,
            repeatable=declared.repeatable,
            backoff_ms=self._backoff() if interval is None and not manner.until_true else (),
            enter=tuple(map(int, manner.enter)),
            leave=tuple(map(int, manner.leave)),
        )


def lane(operation: Operation, declared: Declaration) -> LaneSpec:
    """Return the lane of an operation (decision 7).

    One call of a bulk function takes many members, any other call takes one. Calls that must be killable (scripts and
    calls with a time-out) run in worker processes.
    """
    killable = operation.is_script or bool(operation.timeout_s)
    return LaneSpec(
        phase=operation.name,
        form="bulk" if declared.bulk else "each",
        pool="workers" if killable else "threads",
        max_batch=declared.max_batch,
        concurrency=declared.concurrency,
        key=declared.batch_key,
    )
