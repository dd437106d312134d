"""Every store answers queries for rows of deployments and executions alike (rule RF5): conditions, order, pages, counts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.execution.events import ExecutionChanged
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.model.rows.rows import Actor, NewExecution
from phaseline.ports.store import Store

NAMES = ("shop", "shipping", "farm", "Äpfel")
WORKFLOWS = ("install", "heal", "heal", "scale")


@pytest.fixture
def full(store: Store) -> Store:
    """Four deployments with four executions each, stored at 1,000 to 16,000 ms; each second execution has failed."""
    at = 0
    with store.own("test"):
        for name in NAMES:
            number, _ = store.create_deployment(altered(a.deployment(), name=name))
            for place, workflow in enumerate(WORKFLOWS):
                at += 1_000
                actor = Actor("ann" if place % 2 else "Bob")
                row = store.create_execution(NewExecution(number, Request(workflow), actor, at))
                status = ExecutionStatus.FAILED if place % 2 else ExecutionStatus.COMPLETED
                reason = f"Größe of {name}" if place == 1 else ""
                ended = ExecutionChanged(row.number, status, reason)
                store.commit(altered(a.turn(executions=(ended,)), at=at + 500))
    return store


def ids(store: Store, wanted: ExecutionQuery) -> Sequence[str]:
    rows = store.listings.executions(wanted)
    if not wanted.after and wanted.limit is None:
        assert store.listings.count(wanted) == len(rows)
    return [row.id for row in rows]


def names(store: Store, wanted: DeploymentQuery) -> Sequence[str]:
    rows = store.listings.deployments(wanted)
    if not wanted.after and wanted.limit is None:
        assert store.listings.count(wanted) == len(rows)
    return [row.name for row in rows]


def test_rf5_a_query_without_conditions_gives_all(full: Store) -> None:
    assert list(full.listings.executions(ExecutionQuery())) == list(full.executions())
    assert list(full.listings.deployments(DeploymentQuery())) == list(full.deployments())


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ExecutionQuery(numbers=(3, 99, 1)), ["install-1", "heal-3"]),
        (ExecutionQuery(numbers=()), []),
        (ExecutionQuery(deployments=(2,)), ["install-5", "heal-6", "heal-7", "scale-8"]),
        (ExecutionQuery(begins="heal-1"), ["heal-10", "heal-11", "heal-14", "heal-15"]),
        (ExecutionQuery(begins="heal_1"), []),
        (ExecutionQuery(begins="%"), []),
        (ExecutionQuery(statuses=(ExecutionStatus.FAILED,), deployments=(1,)), ["heal-2", "scale-4"]),
        (ExecutionQuery(workflow="scale"), ["scale-4", "scale-8", "scale-12", "scale-16"]),
        (ExecutionQuery(workflow="sca"), []),
        (ExecutionQuery(actor="ann", deployments=(3,)), ["heal-10", "scale-12"]),
        (ExecutionQuery(since=15_000), ["heal-15", "scale-16"]),
        (ExecutionQuery(ended_since=15_501), ["scale-16"]),
        (ExecutionQuery(text="GRÖSSE of sh"), ["heal-2", "heal-6"]),
        (ExecutionQuery(text="SCALE-1"), ["scale-12", "scale-16"]),
        (ExecutionQuery(text="l-1%"), []),
        (ExecutionQuery(workflow="heal", is_latest_first=True, limit=2), ["heal-15", "heal-14"]),
        (ExecutionQuery(workflow="heal", is_latest_first=True, limit=2, after=14), ["heal-11", "heal-10"]),
        (ExecutionQuery(workflow="heal", limit=1, after=3), ["heal-6"]),
        (ExecutionQuery(limit=0), []),
    ],
)
def test_rf5_executions_that_fulfil_all_conditions(full: Store, wanted: ExecutionQuery, found: Sequence[str]) -> None:
    assert ids(full, wanted) == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (DeploymentQuery(numbers=(1, 3, 99)), ["farm", "shop"]),
        (DeploymentQuery(begins="sh"), ["shipping", "shop"]),
        (DeploymentQuery(begins="sh", limit=1), ["shipping"]),
        (DeploymentQuery(begins="sh", limit=1, after="shipping"), ["shop"]),
        (DeploymentQuery(text="äPFEL"), ["Äpfel"]),
        (DeploymentQuery(kind="resources"), []),
        (DeploymentQuery(kind="blueprint", numbers=(3,)), ["farm"]),
        (DeploymentQuery(labels=(Label("env", "prod"),)), ["farm", "shop"]),
        (DeploymentQuery(labels=(Label("env", ""),)), ["farm", "shipping", "shop"]),
        (DeploymentQuery(labels=(Label("env", "prod"), Label("tier", "web"))), ["shop"]),
    ],
)
def test_rf5_deployments_that_fulfil_all_conditions(full: Store, wanted: DeploymentQuery, found: Sequence[str]) -> None:
    full.labels.add(1, [Label("env", "prod"), Label("tier", "web")])
    full.labels.add(2, [Label("env", "test")])
    full.labels.add(3, [Label("env", "prod")])
    assert names(full, wanted) == found


def test_rf5_a_deleted_deployment_is_not_found_but_its_executions_are(full: Store) -> None:
    full.delete_deployment(1)
    assert names(full, DeploymentQuery(numbers=(1, 2))) == ["shipping"]
    assert ids(full, ExecutionQuery(deployments=(1,), limit=1)) == ["install-1"]


def test_rf5_the_count_is_that_of_all_pages(full: Store) -> None:
    assert full.listings.count(ExecutionQuery(workflow="heal", limit=1, after=14)) == 8
    assert full.listings.count(DeploymentQuery(limit=1, after="shipping")) == 4
