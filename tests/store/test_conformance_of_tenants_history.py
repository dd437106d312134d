"""What every store promises of tenants' old rows and requests: each purges its own, and any wakes the owner (RF4, RF6)."""

from __future__ import annotations

import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import members, plan_of

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.model.rows.rows import EventRow, LogLine, RequestAnswer, RequestKind, TurnPayload
from phaseline.ports.store import Store
from phaseline.ports.tenant_store import TenantStore
from phaseline.use_cases.commands.maintenance import purge_all


def ended(store: Store, tenant: str) -> int:
    """A deployment of a tenant with an execution that has ended, lines, an unapplied plan and an answered request."""
    own = store.of(tenant)
    number, row = own.create_deployment(a.deployment(), a.execution())
    own.stored_plans.add(plan_of(number))
    own.ask(RequestKind.RELOAD, 0, {}, a.ANN)
    lines = [LogLine(row.number, 20, "info", "x")] * 3, [EventRow(row.number, 20, "told", "y")] * 3
    answers = [RequestAnswer(each.number) for each in own.requests()]
    with store.own("an engine"):
        store.commit(a.turn(payload=TurnPayload(answers=answers, logs=lines[0], events=lines[1])))
    a.end(store, row.number)
    return number


OLD = PurgeRules(10**9, 10**9)
ALL_OF_ONE = Purged(executions=1, logs=3, events=3, requests=2, deployments=1)


def test_rf4_a_tenant_removes_only_what_is_its_own_and_old(store: Store) -> None:
    mine, theirs = ended(store, "acme"), ended(store, "other")
    own, other = store.of("acme"), store.of("other")
    assert purge_all(own, PurgeRules(lines_before=10**9)) == Purged(logs=2, events=2)
    for tenant, number in ((own, mine), (other, theirs)):
        tenant.delete_deployment(number)
    assert purge_all(own, PurgeRules(10**9, 10**9, theirs)) == Purged()
    assert len(other.logs(other.executions()[0].number)) == 3
    assert purge_all(own, OLD) == altered(ALL_OF_ONE, logs=1, events=1)
    assert (own.executions(), own.stored_plans.all()) == ([], [])
    assert len(other.executions()) == 1
    assert purge_all(other, OLD) == ALL_OF_ONE
    assert list(store.check()) == []


def test_rf4_the_owner_removes_what_is_old_of_all_tenants(store: Store) -> None:
    for tenant in ("acme", "other"):
        store.of(tenant).delete_deployment(ended(store, tenant))
    with store.own("an engine"):
        assert purge_all(store, OLD) == ALL_OF_ONE + ALL_OF_ONE
    assert store.executions() == []
    assert list(store.check()) == []


def test_rf4_the_owner_may_remove_what_is_old_of_one_tenant(store: Store) -> None:
    for tenant in ("acme", "other"):
        store.of(tenant).delete_deployment(ended(store, tenant))
    with store.own("an engine"):
        assert purge_all(store.of("acme"), OLD) == ALL_OF_ONE
    assert [row.tenant for row in store.executions()] == ["other"]


def test_rf6_a_request_of_any_tenant_wakes_the_owner_and_an_answer_the_tenants(store: Store) -> None:
    mine, heard, answered = store.of("acme"), [], []
    number, _ = mine.create_deployment(a.deployment())
    with store.own("an engine"), store.listen(lambda: heard.append(len(store.requests()))):
        run = mine.create_execution(a.execution(number), asks=True)
        request = mine.ask(RequestKind.CANCEL, run.number, {}, a.ANN)
        assert heard == [1, 2]
        with mine.listen_for_answers(lambda: answered.append(mine.answer_of(request))):
            store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(request, {"done": True})])))
    assert answered == [{"done": True}]
    with pytest.raises(LookupError):
        store.of("other").answer_of(request)


def test_rf6_only_the_owner_of_the_store_listens_to_requests(store: Store) -> None:
    assert "listen" not in members(TenantStore)
    assert not hasattr(store.of("acme"), "listen")
