"""The rule behind queries for rows: every condition that is given must hold, and one that is left out holds for all."""

from __future__ import annotations

from dataclasses import fields

import pytest

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.row_queries import (
    AllOf,
    AnyOf,
    DeploymentQuery,
    ExecutionQuery,
    NotThat,
    RowCheck,
    RowTest,
    is_deployment_selected,
    is_execution_selected,
    verdict_of,
)
from phaseline.model.rows.rows import DeploymentRow, ExecutionRow

RUN = ExecutionRow(7, "heal-7", 2, "shop", Request("heal"), ExecutionStatus.FAILED, "Disk full", 0, 10, 11, 20, "ann")
SHOP = DeploymentRow(2, "shop", "shop/Blueprint.yaml", "Sells", CodeLocation(""), 10, "ann", 3)
LABELS = (Label("env", "prod"), Label("tier", "web"))
PAGE = {"is_latest_first", "after", "limit"}


@pytest.mark.parametrize(
    ("condition", "fits", "fits_not"),
    [
        ("numbers", (7, 8), (8,)),
        ("deployments", (2,), ()),
        ("begins", "he", "eal"),
        ("statuses", (ExecutionStatus.FAILED,), (ExecutionStatus.CANCELED,)),
        ("workflow", "heal", "hea"),
        ("actor", "ann", "an"),
        ("since", 10, 11),
        ("ended_since", 20, 21),
        ("text", "DISK", "disk-full"),
    ],
)
def test_rf5_a_condition_on_executions(condition: str, fits: object, fits_not: object) -> None:
    assert is_execution_selected(RUN, ExecutionQuery())
    assert is_execution_selected(RUN, altered(ExecutionQuery(), **{condition: fits}))
    assert not is_execution_selected(RUN, altered(ExecutionQuery(), **{condition: fits_not}))
    assert not is_execution_selected(
        RUN,
        altered(ExecutionQuery(numbers=()), **{condition: fits})
        if condition != "numbers"
        else ExecutionQuery(numbers=()),
    )


@pytest.mark.parametrize(
    ("condition", "fits", "fits_not"),
    [
        ("numbers", (2,), (1,)),
        ("begins", "sh", "s%"),
        ("kind", "blueprint", "resources"),
        ("labels", (Label("env", ""), Label("tier", "web")), (Label("env", "prod"), Label("tier", "db"))),
        ("text", "blueprint.YAML", "shopping"),
    ],
)
def test_rf5_a_condition_on_deployments(condition: str, fits: object, fits_not: object) -> None:
    assert is_deployment_selected(SHOP, DeploymentQuery())
    assert is_deployment_selected(SHOP, altered(DeploymentQuery(), **{condition: fits}), LABELS)
    assert not is_deployment_selected(SHOP, altered(DeploymentQuery(), **{condition: fits_not}), LABELS)


def test_rf5_the_page_is_no_condition() -> None:
    assert is_execution_selected(RUN, ExecutionQuery(after=99, limit=0))
    assert is_deployment_selected(SHOP, DeploymentQuery(after="zoo", limit=0))
    assert {one.name for one in fields(ExecutionQuery)} >= PAGE


YES, NO, UNKNOWN = (RowTest("env", "equals", text) for text in ("a", "z", "?"))


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (YES, True),
        (UNKNOWN, None),
        (NotThat(NO), True),
        (NotThat(UNKNOWN), None),
        (AllOf((YES, UNKNOWN)), None),
        (AllOf((UNKNOWN, NO)), False),
        (AnyOf((UNKNOWN, YES)), True),
        (AnyOf((NO, UNKNOWN)), None),
        (AllOf(()), True),
        (AnyOf(()), False),
    ],
)
def test_lb4_what_is_unknown_decides_nothing(check: RowCheck, verdict: bool | None) -> None:
    assert verdict_of(check, lambda test: () if test is UNKNOWN else ("A",)) is verdict


@pytest.mark.parametrize(
    ("kind", "verdicts"),
    [
        ("is", (False, True, False)),
        ("equals", (True, True, None)),
        ("starts", (False, True, None)),
        ("ends", (False, True, None)),
        ("contains", (False, True, None)),
        ("defined", (True, True, False)),
    ],
)
def test_lb4_each_kind_of_test(kind: str, verdicts: tuple[bool | None, ...]) -> None:
    test = RowTest("env", kind, "a", is_label=True)  # type: ignore[arg-type]  # one of its words
    assert tuple(verdict_of(test, lambda _, values=values: values) for values in (["A"], ["x", "a"], [])) == verdicts
