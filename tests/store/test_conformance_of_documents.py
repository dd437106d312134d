"""What every store promises (DocumentShelf, Payload.written): documents and forgotten deployments, in the transaction of their turn."""

from __future__ import annotations

import pytest
from tests.store import builders as a

from phaseline.model.deployment.stack_documents import ABANDONED, ABANDONED_KEPT_MS, SNAPSHOT, Drop, NewDocument
from phaseline.model.execution.events import Changes, ExecutionChanged
from phaseline.model.graph.status import ExecutionStatus as Status
from phaseline.model.rows.rows import ForgottenDeployment, PlannerWrites, Turn, TurnPayload

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def store(reopen):
    return reopen()


@pytest.fixture
def made(store):
    """(deployment, its execution)."""
    with store.own("test"):
        return store.create_deployment(a.deployment(), a.execution())


def document(kind, name, made, **body):
    number, row = made
    return NewDocument(kind, name, number, "shop", row.number, body)


def write(store, at=1000, changes=None, **written):
    with store.own("test"):
        store.commit(Turn(at, changes or Changes(), TurnPayload(written=PlannerWrites(**written))))


def names(store, kind=SNAPSHOT, deployment=None):
    return [row.name for row in store.stack_documents.all(kind, deployment)]


def test_a_document_comes_with_its_turn_and_is_read_as_it_was_given(store, made):
    body = {"resources": {"web": {"resource_data": {"ip": "10.0.0.1"}}}, "tags": []}
    write(store, at=77, kept=(document(SNAPSHOT, "monday", made, **body),))
    (row,) = store.stack_documents.all(SNAPSHOT)
    assert (row.kind, row.name, row.deployment, row.deployment_name, row.at) == (
        "snapshot",
        "monday",
        made[0],
        "shop",
        77,
    )
    assert row.created_by == made[1].created_by
    assert row.size_bytes > 50
    assert store.stack_documents.body(row) == body
    assert names(store, ABANDONED) == []


def test_documents_are_listed_by_time_and_of_one_deployment_if_it_is_named(store, made):
    write(store, at=2, kept=(document(SNAPSHOT, "b", made), document(SNAPSHOT, "c", made)))
    write(store, at=1, kept=(document(SNAPSHOT, "a", made),))
    assert names(store) == ["a", "b", "c"]
    assert names(store, deployment=made[0]) == ["a", "b", "c"]
    assert names(store, deployment=made[0] + 1) == []


def test_a_round_that_is_written_again_has_one_document(store, made):
    write(store, kept=(document(SNAPSHOT, "a", made, n=1),))
    write(store, kept=(document(SNAPSHOT, "a", made, n=2),))
    (row,) = store.stack_documents.all(SNAPSHOT)
    assert store.stack_documents.body(row) == {"n": 2}


def test_a_document_goes_with_its_turn(store, made):
    write(store, kept=(document(SNAPSHOT, "a", made), document(ABANDONED, "a", made)))
    (row,) = store.stack_documents.all(SNAPSHOT)
    write(store, dropped=(Drop(SNAPSHOT, "a", made[0]), Drop(SNAPSHOT, "never", made[0])))
    assert (names(store), names(store, ABANDONED)) == ([], ["a"])
    with pytest.raises(LookupError):
        store.stack_documents.body(row)


def test_who_is_forgotten_frees_the_name_in_the_turn_that_ends_the_execution_and_what_waited_is_canceled(store, made):
    number, row = made
    write(store, kept=(document(SNAPSHOT, "a", made), document(ABANDONED, row.id, made)))
    with store.own("test"):
        waiting = store.create_execution(a.execution(number), beside=lambda _other: True)
    ended = Changes(executions=(ExecutionChanged(row.number, Status.COMPLETED),))
    write(store, 99, ended, forgotten=(ForgottenDeployment(number, row.number, "eve"),))
    assert store.deployments() == []
    assert store.execution(row.id).status is Status.COMPLETED
    canceled = store.execution(waiting.id)
    assert (canceled.status, canceled.reason, canceled.ended_at) == (
        Status.CANCELED,
        "the deployment was forgotten",
        99,
    )
    assert (names(store), names(store, ABANDONED)) == ([], [row.id])
    with store.own("test"):
        assert store.create_deployment(a.deployment())[0] != number


def test_snapshots_go_with_a_deployment_that_is_deleted_and_what_was_abandoned_stays(store):
    with store.own("test"):
        number, row = store.create_deployment(a.deployment(), a.execution())
        ended = Changes(executions=(ExecutionChanged(row.number, Status.COMPLETED),))
        kept = (document(SNAPSHOT, "a", (number, row)), document(ABANDONED, "b", (number, row)))
        store.commit(Turn(1, ended, TurnPayload(written=PlannerWrites(kept=kept))))
        store.delete_deployment(number)
    a.purge(store, 10**15)
    assert (names(store), names(store, ABANDONED)) == ([], ["b"])
    assert not store.check()


def test_what_was_abandoned_is_kept_for_thirty_days(store, made):
    write(store, at=DAY_MS, kept=(document(ABANDONED, "old", made), document(SNAPSHOT, "old", made)))
    write(store, at=DAY_MS + ABANDONED_KEPT_MS, kept=(document(ABANDONED, "middle", made),))
    assert names(store, ABANDONED) == ["old", "middle"]
    write(store, at=DAY_MS + ABANDONED_KEPT_MS + 1, kept=(document(ABANDONED, "new", made),))
    assert (names(store, ABANDONED), names(store)) == (["middle", "new"], ["old"])


def test_a_deployment_may_come_with_what_its_instances_know(store):
    from phaseline.lang.fast_dataclasses import altered

    new = altered(a.deployment(), documents={0: {"ip": "10.0.0.1"}, 1: {}})
    with store.own("test"):
        number, _ = store.create_deployment(new)
    assert store.documents(number) == {0: {"ip": "10.0.0.1"}}
