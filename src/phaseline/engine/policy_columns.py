"""The policies of all graphs as columns, so that the policies of many entries can be read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from phaseline.engine.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.graph.graph import LaneSpec, Policy

T = TypeVar("T")

DTYPES = {
    "lane": np.int32,
    "max_retries": np.int32,
    "interval": np.int64,
    "timeout": np.int64,
    "repeatable": np.bool_,
    "cancel_wins": np.bool_,
    "answers_stop": np.bool_,
    "enter": np.int32,
    "leave": np.int32,
    "backoff": np.int32,
}


class PolicyTable:
    """One column for each attribute of a policy; the row is the policy's number.

    ``lane`` is an index into ``specs``. ``enter`` and ``leave`` are indices into ``paths``: the states through which an
    instance goes when its call begins and when it is done.
    """

    lane: np.ndarray
    max_retries: np.ndarray
    interval: np.ndarray
    timeout: np.ndarray
    repeatable: np.ndarray
    cancel_wins: np.ndarray
    answers_stop: np.ndarray
    enter: np.ndarray
    leave: np.ndarray
    backoff: np.ndarray

    def __init__(self) -> None:
        """Create a table without policies. Path 0 is empty, for policies that do not change the state of an instance."""
        self.specs: list[LaneSpec] = []
        self.paths: list[tuple[int, ...]] = [()]
        self._spec_number: dict[LaneSpec, int] = {}
        self._path_number: dict[tuple[int, ...], int] = {(): 0}
        self.backoffs: list[tuple[int, ...]] = [()]
        self._backoff_number: dict[tuple[int, ...], int] = {(): 0}
        self.reset(())

    def extend(self, policies: Sequence[Policy]) -> None:
        """Append policies."""
        rows = [
            (
                self._number(policy.lane, self.specs, self._spec_number),
                policy.max_retries,
                policy.retry_interval_ms,
                policy.timeout_ms,
                policy.repeatable,
                policy.cancel_wins,
                policy.answers_stop,
                self._number(policy.enter, self.paths, self._path_number),
                self._number(policy.leave, self.paths, self._path_number),
                self._number(policy.backoff_ms, self.backoffs, self._backoff_number),
            )
            for policy in policies
        ]
        columns = np.array(rows, np.int64).reshape(len(rows), len(DTYPES)).T
        self._columns.extend(len(rows), dict(zip(DTYPES, columns, strict=True)))
        self.has_timeouts |= any(policy.timeout_ms for policy in policies)
        self._expose()

    def _expose(self) -> None:
        vars(self).update(self._columns.views())

    def reset(self, policies: Sequence[Policy]) -> None:
        """Replace all policies by these."""
        self._columns = Columns(DTYPES)
        self.has_timeouts = False
        if policies:
            self.extend(policies)
        else:
            self._expose()

    def waits(self, policy: np.ndarray, attempts: np.ndarray) -> np.ndarray:
        """Return the time in ms (int64) until the next try of each entry whose call failed without giving a delay.

        ``attempts`` is the number of the retry, from 1 on, or 0 if it is no retry; then the plain interval applies.
        """
        found: np.ndarray = self.interval[policy]
        if len(self.backoffs) == 1:
            return found
        numbers = self.backoff[policy]
        for number in np.unique(numbers[(numbers > 0) & (attempts > 0)]).tolist():
            own = (numbers == number) & (attempts > 0)
            steps = np.array(self.backoffs[number], np.int64)
            found[own] = steps[np.minimum(attempts[own], len(steps)) - 1]
        return found

    @staticmethod
    def _number(value: T, values: list[T], numbers: dict[T, int]) -> int:
        number = numbers.get(value)
        if number is None:
            number = numbers[value] = len(values)
            values.append(value)
        return number
