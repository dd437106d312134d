"""Filters of lists: ``--filter`` with an expression or the name of a saved filter, and rules (LB3, LB4).

What a store can test it tests; the rest of an expression is evaluated on the rows that are left.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import suggestion
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.deployment_statuses import Families
from phaseline.records.filters.row_condition import RowCondition, record_of_row
from phaseline.records.filters.rule_expressions import expression_of
from phaseline.records.filters.rules import parse_rules, rules_of_json
from phaseline.records.values import ErrorValue
from phaseline.use_cases.lookup.estate.listed_deployments import check_counts, statuses_of
from phaseline.use_cases.lookup.label_syntax import by_key

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.filters.row_attributes import FilteredKind
    from phaseline.records.filters.rules import FilterRule
    from phaseline.records.record import Record
    from phaseline.records.values import Value

SAVED = "@"
"""How the name of a saved filter begins after ``--filter``."""
_SUMMARIES = frozenset(
    [
        *("status", "installation_status", "latest_execution_status", "deployment_status", "sub_services_count"),
        *("sub_services_status", "sub_environments_count", "sub_environments_status"),
    ]
)
_CHECKED = frozenset(("drifted_instances", "unavailable_instances"))


def rules_of(store: TenantStore, noun: FilteredKind, name: str) -> tuple[FilterRule, ...]:
    """Return the rules of a saved filter. Raises: PL-C142."""
    found = store.filters.find(noun, name)
    if found is None:
        known = [row.name for row in store.filters.all(noun)]
        hint = suggestion(name, known)
        mend = f"{hint}see: phaseline filters list"
        raise problem_error("PL-C142", f"there is no filter '{name}' for {noun}", mend, subject=name)
    return rules_of_json(json.loads(found.rules), noun)


def condition_of(
    store: TenantStore, noun: FilteredKind, text: str = "", rules: Sequence[str] = ()
) -> RowCondition | None:
    """Return the condition of ``--filter`` and ``--rule``, or None if both are empty.

    ``text``: an expression, or ``@NAME``. Raises: PL-C140 to PL-C142, and PL-R004 to PL-R011 for an expression.
    """
    parts = [f"({text})"] if text and not text.startswith(SAVED) else []
    given = rules_of(store, noun, text.removeprefix(SAVED)) if text.startswith(SAVED) else ()
    given += parse_rules(rules, noun)
    if not parts and not given:
        return None
    if not given:
        return RowCondition(text, noun)
    if parts:
        RowCondition(text, noun)  # mistakes are shown in the text that was given
    return RowCondition(" && ".join([*parts, expression_of(given)]), noun)


def page_of_deployments(
    ctx: RequestContext, wanted: DeploymentQuery, condition: RowCondition | None
) -> tuple[Sequence[DeploymentRow], int]:
    """Return (the deployments that a query and a condition select, the number of all that they select).

    Raises: PL-C144 if the condition cannot be evaluated for a deployment.
    """
    if condition is not None:
        wanted = altered(wanted, checks=condition.checks)
    if condition is None or condition.rest is None:
        return ctx.store.listings.page(wanted)
    rows = ctx.store.listings.deployments(altered(wanted, limit=None, after=""))
    records = _records_of_deployments(ctx.store, rows, condition.names)
    verdicts = condition.judge_all(records, now=ctx.clock.now() / 1000)
    chosen = [row for row, one in zip(rows, verdicts, strict=True) if _is_true(one, f"the deployment '{row.name}'")]
    return [row for row in chosen if row.name > wanted.after][: wanted.limit], len(chosen)


def page_of_executions(
    ctx: RequestContext, wanted: ExecutionQuery, condition: RowCondition | None
) -> tuple[Sequence[ExecutionRow], int]:
    """Return (the executions that a query and a condition select, the number of all that they select).

    Raises: PL-C144 if the condition cannot be evaluated for an execution.
    """
    if condition is not None:
        wanted = altered(wanted, checks=condition.checks)
    if condition is None or condition.rest is None:
        return ctx.store.listings.page(wanted)
    rows = ctx.store.listings.executions(altered(wanted, limit=None, after=0))
    numbers = sorted({row.deployment for row in rows}) if _has_labels(condition.names) else []
    labels = ctx.store.labels.of_many(numbers) if numbers else {}
    records = [record_of_row(_of_execution(row), by_key(labels.get(row.deployment, ()))) for row in rows]
    verdicts = condition.judge_all(records, now=ctx.clock.now() / 1000)
    chosen = [row for row, one in zip(rows, verdicts, strict=True) if _is_true(one, f"the execution '{row.id}'")]
    return chosen[: wanted.limit], len(chosen)


def numbers_of_deployments(ctx: RequestContext, condition: RowCondition) -> list[int]:
    """Return the numbers of the deployments that a condition selects. Raises: PL-C144."""
    from phaseline.model.rows.row_queries import DeploymentQuery

    rows, _ = page_of_deployments(ctx, DeploymentQuery(), condition)
    return [row.number for row in rows]


def _is_true(verdict: bool | ErrorValue, what: str) -> bool:  # noqa: FBT001  # the value is what is asked about
    if isinstance(verdict, ErrorValue):
        message = f"the filter makes no sense for {what}: {verdict.reason}"
        raise problem_error(
            "PL-C144", message, "correct it, or ask first whether it makes sense: isString(X) && X == …"
        )
    return verdict


def _has_labels(names: frozenset[str]) -> bool:
    return any("labels" in name for name in names)


def _records_of_deployments(store: TenantStore, rows: Sequence[DeploymentRow], names: frozenset[str]) -> list[Record]:
    """Return the records of these deployments, with the attributes that a condition reads."""
    numbers = [row.number for row in rows]
    labels = store.labels.of_many(numbers) if _has_labels(names) else {}
    needs_facts = names & (_SUMMARIES | _CHECKED | {"site_name", "blueprint_id", "display_name"})
    facts = store.listings.facts(numbers, with_names="display_name" in names) if needs_facts else None
    statuses: Mapping[int, Mapping[str, Value]] = {}
    if facts is not None and names & _SUMMARIES:
        statuses = statuses_of(store, rows, Families(facts.kin)).attributes()
    counts = check_counts(store, facts.checked) if facts is not None and names & _CHECKED else {}
    records = []
    for row in rows:
        known = _of_deployment(row)
        if facts is not None:
            known["site_name"] = facts.sites.get(row.number)
            known["blueprint_id"] = facts.blueprint_ids.get(row.number)
            known["display_name"] = facts.display_names.get(row.number) or row.name
            known.update(statuses.get(row.number, {}))
            drifted, unavailable = counts.get(row.number, (0, 0))
            known.update(drifted_instances=drifted, unavailable_instances=unavailable)
        records.append(record_of_row(known, by_key(labels.get(row.number, ()))))
    return records


def _of_deployment(row: DeploymentRow) -> dict[str, Value]:
    return {
        "id": row.name,
        "name": row.name,
        "blueprint_file": row.blueprint_file,
        "description": row.description,
        "kind": row.kind,
        "created_by": row.created_by,
        "created_at": _time(row.created_at),
        "tenant_name": row.tenant,
        "instance_count": row.instance_count,
    }


def _of_execution(row: ExecutionRow) -> dict[str, Value]:
    return {
        "id": row.id,
        "workflow": row.request.workflow,
        "status": row.status.value,
        "deployment": row.deployment_name,
        "created_by": row.created_by,
        "created_at": _time(row.created_at),
        "started_at": _time(row.started_at),
        "ended_at": _time(row.ended_at),
        "reason": row.reason,
        "attempt": row.attempt,
        "tenant_name": row.tenant,
    }


def _time(at: int) -> datetime | None:
    """Return a time in ms as the language has it, undefined for 0."""
    return datetime.fromtimestamp(at / 1000, UTC) if at else None
