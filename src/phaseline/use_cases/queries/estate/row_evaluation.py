"""What is left of a filter when the store has tested what it can: the rest is evaluated on the rows (LB4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error
from phaseline.records.filters.row_condition import record_of_row
from phaseline.records.values import ErrorValue
from phaseline.use_cases.lookup.label_syntax import by_key

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.filters.row_condition import RowCondition
    from phaseline.records.values import Value


def chosen(
    ctx: RequestContext,
    condition: RowCondition,
    rows: Sequence[Mapping[str, Value]],
    deployments: Sequence[int],
    what: str,
) -> list[bool]:
    """Return for each row whether it fulfils the rest of a condition.

    ``rows`` are their attributes, ``deployments`` the numbers of their deployments, whose labels they have. ``what``:
    the word for a row in messages. Raises: PL-C154 for a row for which the condition makes no sense.
    """
    labels = _labels(ctx.store, deployments) if any("labels" in name for name in condition.names) else {}
    records = [record_of_row(row, labels.get(number, {})) for row, number in zip(rows, deployments, strict=True)]
    verdicts = condition.judge_all(records, now=ctx.clock.now() / 1000)
    return [_is_true(one, f"the {what} '{row['id']}'") for one, row in zip(verdicts, rows, strict=True)]


def _labels(store: TenantStore, deployments: Sequence[int]) -> Mapping[int, Mapping[str, Sequence[str]]]:
    found = store.labels.of_many(sorted(set(deployments)))
    return {number: by_key(labels) for number, labels in found.items()}


def _is_true(verdict: bool | ErrorValue, what: str) -> bool:  # noqa: FBT001  # the value is what is asked about
    if isinstance(verdict, ErrorValue):
        message = f"the filter makes no sense for {what}: {verdict.reason}"
        raise problem_error(
            "PL-C154", message, "correct it, or ask first whether it makes sense: isString(X) && X == …"
        )
    return verdict


def time_value(at: int) -> datetime | None:
    """Return a time in ms as the language has it, undefined for 0."""
    return datetime.fromtimestamp(at / 1000, UTC) if at else None
