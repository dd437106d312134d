"""The attributes ``Phase.X`` with which a plugin configures the calls of its phase, with their types and limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.operation_declaration import LARGEST_BATCH
from phaseline.records.expression import Expression

if TYPE_CHECKING:
    from phaseline.records.values import Stored

MAX_SECONDS = 30 * 24 * 3600
"""Largest value of any duration in a phase's policy, in seconds: 30 days."""


@frozen
class Knob:
    """One attribute ``Phase.X``: the field of ``PhasePolicy`` that it sets, and the function that checks and converts
    its value.

    ``kind`` describes the expected value in messages.
    """

    field: str
    kind: str
    read: Callable[[Stored], Any]
    is_expression: bool = False


class Unfit(Exception):
    """Raised if a value is not of the expected kind. Code of this folder always catches it."""


def _number(low: float, high: float = math.inf, *, above: bool = False) -> Callable[[Stored], float]:
    def read(value: Stored) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Unfit
        if value < low or value > high or (above and value == low):
            raise Unfit
        return float(value)

    return read


def _whole(low: int, high: int) -> Callable[[Stored], int]:
    def read(value: Stored) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Unfit
        return value

    return read


def _flag(value: Stored) -> bool:
    if not isinstance(value, bool):
        raise Unfit
    return value


def _word(*words: str) -> Callable[[Stored], str]:
    def read(value: Stored) -> str:
        if not isinstance(value, str) or value.lower() not in words:
            raise Unfit
        return value.lower()

    return read


def _expression(value: Stored) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, int | float):
        return str(value)
    raise Unfit


SOME = f"seconds, more than 0 and at most {MAX_SECONDS}"
ANY = f"seconds, from 0 to {MAX_SECONDS}"
KNOBS: Mapping[str, Knob] = {
    "SleepDelay": Knob("sleep_delay_s", SOME, _number(0, MAX_SECONDS, above=True)),
    "MaxBatch": Knob("max_batch", f"a whole number from 1 to {LARGEST_BATCH}", _whole(1, LARGEST_BATCH)),
    "MinInterval": Knob("min_interval_s", ANY, _number(0, MAX_SECONDS)),
    "MaxConcurrency": Knob("max_concurrency", "a whole number from 1 to 10000", _whole(1, 10_000)),
    "CoalesceWindow": Knob("coalesce_window_s", ANY, _number(0, MAX_SECONDS)),
    "BatchKey": Knob("batch_key", "an expression", _expression, is_expression=True),
    "Priority": Knob("priority", "a number from -1000000 to 1000000", _number(-1_000_000, 1_000_000)),
    "OverdueAfter": Knob("overdue_after_s", SOME, _number(0, MAX_SECONDS, above=True)),
    "RunTimeout": Knob("run_timeout_s", SOME, _number(0, MAX_SECONDS, above=True)),
    "Timeout": Knob("timeout_s", "seconds, more than 0", _number(0, above=True)),
    "RetryLimit": Knob("retry_limit", "a whole number, -1 (without end) or more", _whole(-1, 1_000_000)),
    "RetryClears": Knob("retry_clears", "true or false", _flag),
    "BackoffBase": Knob("backoff_base_s", SOME, _number(0, MAX_SECONDS, above=True)),
    "BackoffFactor": Knob("backoff_factor", "a number, 1 or more", _number(1, 1_000)),
    "BackoffMax": Knob("backoff_max_s", SOME, _number(0, MAX_SECONDS, above=True)),
    "BackoffJitter": Knob("backoff_jitter", "a number from 0 to 1", _number(0, 1)),
    "OnBatchFailure": Knob("on_batch_failure", "fail or bisect", _word("fail", "bisect")),
    "RateLimit": Knob("rate_limit", "calls a second, more than 0", _number(0, 1_000_000, above=True)),
    "RateLimitBurst": Knob("rate_limit_burst", "a whole number from 1 to 1000000", _whole(1, 1_000_000)),
    "RateLimitKey": Knob("rate_limit_key", "an expression", _expression, is_expression=True),
    "BreakerShare": Knob("breaker_share", "a number, more than 0 and at most 1", _number(0, 1, above=True)),
    "BreakerMinimum": Knob("breaker_minimum", "a whole number from 1 to 1000000", _whole(1, 1_000_000)),
    "BreakerWindow": Knob("breaker_window_s", SOME, _number(0, MAX_SECONDS, above=True)),
    "BreakerPause": Knob("breaker_pause_s", SOME, _number(0, MAX_SECONDS, above=True)),
}
"""All attributes ``Phase.X``: {X: its definition}."""

BY_KEY = {name.lower(): (name, knob) for name, knob in KNOBS.items()}


def expression_names() -> Iterator[str]:
    """Return the names X of the attributes ``Phase.X`` whose values are expressions.

    In Python and JSON, which have no notation for an expression, a text in such an attribute is read as an expression.
    """
    return (name for name, knob in KNOBS.items() if knob.is_expression)
