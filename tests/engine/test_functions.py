"""A bulk call holds up entries of its own function alone (ADR 0033)."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
from tests.engine.driving import DONE, RETRY, Driver, positions

from phaseline.engine.scheduler import Scheduler
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.events import Batch, CancelRequested, Planned, SlotsChanged, Submitted
from phaseline.model.execution.execution import History, Request, Verdict
from phaseline.model.graph.functions import Functions
from phaseline.model.graph.graph import Graph, SubjectKind
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.topology.expansion import expand
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import CONNECTED_TO, blueprint, node, relationship

BULK = Declaration(bulk=True)
CODE = CodeLocation("/blueprints/one", ("/plugins",))
MANY = 50_000
MOST_CALLS_EACH = 12
"""Python functions that an entry of a function of its own may cost."""


def topology(**functions: tuple[str, int]) -> Topology:
    """{node: (function that creates it, instances)}."""
    return expand(
        blueprint(*[node(name, create=of, instances=count) for name, (of, count) in functions.items()]), suffixes=1
    )


def graph(built: Topology, declared: Declaration = BULK) -> Graph:
    return PLANNERS["install"](built, Request("install"), History(np.zeros(len(built), np.uint8)), lambda _: declared)


class Deployments(Driver):
    """Executions 1, 2, 3 ... each of a deployment of its own."""

    def install(self, built: Topology, *, code: CodeLocation = CODE, declared: Declaration = BULK) -> list[Batch]:
        before = len(self.batches)
        number = max(self.scheduler.runs, default=0) + 1
        self.tell(Submitted(number, number))
        self.tell(Planned(number, graph(built, declared), number, Functions(built, code)))
        return self.batches[before:]

    def called(self, batches: list[Batch]) -> list[dict[int, int]]:
        """By batch {execution: how many of its entries}."""
        found = []
        for batch in batches:
            counts: Counter[int] = Counter()
            for segment in batch.segments:
                counts[segment.execution] += len(segment.positions)
            found.append(dict(counts))
        return found


def test_another_function_of_the_operation_does_not_wait_for_a_call_that_hangs() -> None:
    driver = Deployments()
    (both,) = driver.install(topology(a=("pluginA.create", 1), b=("pluginB.create", 1)))
    (hangs,) = [member for member in range(2) if both.segments[0].subjects[member] == 0]
    assert driver.answer(both, DONE, [1 - hangs]) == []
    assert driver.called(driver.install(topology(b=("pluginB.create", 3)))) == [{2: 3}], "its own calls have returned"
    assert driver.install(topology(a=("pluginA.create", 2))) == [], "it waits for the call that hangs"
    assert driver.called(driver.install(topology(c=("pluginC.create", 1), a=("pluginA.create", 1)))) == [{4: 1}]
    assert driver.called(driver.answer(both, DONE, [hangs])) == [{3: 2, 4: 1}], "what came meanwhile shares a call"


def test_so_it_is_within_one_deployment_too() -> None:
    built = expand(
        blueprint(node("a", create="pluginA.create"), node("b", create="pluginB.create"), node("c", to=["b"], create="pluginC.create")),
        suffixes=1,
    )  # fmt: skip
    driver = Deployments()
    (both,) = driver.install(built)
    (hangs,) = [
        member
        for member, one in enumerate(both.segments[0].subjects.tolist())
        if built.nodes[built.node[one]].name == "a"
    ]
    assert driver.called(driver.answer(both, DONE, [1 - hangs])) == [{1: 1}]


def test_what_comes_meanwhile_waits_for_its_own_function_while_another_hangs() -> None:
    driver = Deployments()
    (hangs,) = driver.install(topology(a=("pluginA.create", 1)))
    (first,) = driver.install(topology(b=("pluginB.create", 1)))
    assert [driver.install(topology(b=("pluginB.create", 1))) for _ in range(3)] == [[], [], []]
    assert driver.called(driver.answer(first)) == [{3: 1, 4: 1, 5: 1}], "together, in one call"
    assert driver.answer(hangs) == []


def test_a_function_of_other_code_is_another_function() -> None:
    driver = Deployments()
    driver.install(topology(a=("plugin.create", 1)))
    assert driver.install(topology(a=("plugin.create", 1))) == []
    newer = CodeLocation("/blueprints/one", ("/plugins",), packages=("/packages/plugin-2",))
    assert driver.called(driver.install(topology(a=("plugin.create", 1)), code=newer)) == [{3: 1}]


def test_concurrency_is_that_of_each_function() -> None:
    twice = Declaration(bulk=True, concurrency=2)
    driver = Deployments()
    first, second = (driver.install(topology(a=("pluginA.create", 1)), declared=twice)[0] for _ in range(2))
    assert driver.install(topology(a=("pluginA.create", 1)), declared=twice) == []
    assert len(driver.install(topology(b=("pluginB.create", 1)), declared=twice)) == 1
    assert len(driver.install(topology(b=("pluginB.create", 1)), declared=twice)) == 1
    assert driver.install(topology(b=("pluginB.create", 1)), declared=twice) == []
    assert driver.called(driver.answer(second)) == [{3: 1}]
    assert driver.answer(first) == []


def test_a_shelf_is_drawn_from_by_executions_in_turns() -> None:
    small = Declaration(bulk=True, max_batch=4)
    driver = Deployments()
    (hangs,) = driver.install(topology(a=("pluginA.create", 1)), declared=small)
    (first,) = driver.install(topology(b=("pluginB.create", 9)), declared=small)
    assert driver.install(topology(b=("pluginB.create", 2)), declared=small) == []
    (second,) = driver.answer(first)
    assert driver.called([second]) == [{2: 2, 3: 2}]
    assert driver.called(driver.answer(second)) == [{2: 3}]
    assert hangs.id in driver.scheduler.batches


def test_what_is_canceled_leaves_its_shelf() -> None:
    driver = Deployments()
    (hangs,) = driver.install(topology(a=("pluginA.create", 1)))
    driver.install(topology(a=("pluginA.create", 2)))
    driver.install(topology(a=("pluginA.create", 1)))
    driver.install(topology(b=("pluginB.create", 1)))
    driver.install(topology(b=("pluginB.create", 1)))
    driver.tell(CancelRequested(2), CancelRequested(5))
    assert driver.called(driver.answer(hangs)) == [{3: 1}]
    assert driver.called(driver.batches)[1:] == [{4: 1}, {3: 1}]


def test_who_fails_and_is_tried_again_does_not_hold_up_its_own_function() -> None:
    driver = Deployments()
    (first,) = driver.install(topology(a=("pluginA.create", 2)))
    driver.install(topology(a=("pluginA.create", 1)))
    assert driver.answer(first, RETRY, [0]) == [], "the other one has not returned"
    assert driver.called(driver.answer(first, RETRY, [1])) == [{2: 1}]


def test_a_hundred_calls_that_hang_keep_only_slots() -> None:
    driver = Deployments(slots={"bulk": 101, "threads": 1, "workers": 1})
    for number in range(100):
        assert len(driver.install(topology(a=(f"plugin{number}.create", 1)))) == 1
    assert len(driver.install(topology(a=("other.create", 1)))) == 1
    assert driver.install(topology(a=("another.create", 1))) == [], "no slot is free"


def calls_of_python(work) -> int:
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("hangs", [False, True])
def test_fifty_thousand_functions_are_one_policy_and_few_batches(hangs: bool) -> None:
    built = expand(blueprint(*[node(f"n{i}", create=f"plugin{i}.create") for i in range(MANY)]), suffixes=1)
    planned = graph(built)
    assert len(planned.policies) <= 5
    driver = Deployments(is_checked=False)
    if hangs:
        driver.install(topology(a=("plugin7.create", 1)))
    begun = len(driver.batches)
    driver.tell(Submitted(2, 2))
    cost = calls_of_python(lambda: driver.tell(Planned(2, planned, 2, Functions(built, CODE))))
    sizes = [len(batch) for batch in driver.batches[begun:]]
    assert sizes == [10_000] * 4 + [10_000 - hangs], "one waits for the call of its function, the others go on"
    assert cost < MOST_CALLS_EACH * MANY
    cost = calls_of_python(lambda: [driver.answer(batch) for batch in driver.batches[begun:]])
    assert cost < MOST_CALLS_EACH * MANY


def test_a_million_of_one_function_are_looked_at_once_however_small_their_batches() -> None:
    small = Declaration(bulk=True, repeatable=True, max_batch=1_000)
    driver = Deployments(is_checked=False)
    (batch,) = driver.install(topology(a=("plugin.create", 200_000)), declared=small)
    asked = []
    functions_of = driver.scheduler.lanes._functions_of
    driver.scheduler.lanes._functions_of = lambda phase, where: asked.append(len(where)) or functions_of(phase, where)
    made = 1
    while batch is not None:
        (batch,) = driver.answer(batch) or [None]
        made += batch is not None
    assert made == 200
    assert sum(asked) <= 2 * 200_000, "of each, and of each once more in its batch"
    assert positions(driver.batches[0])[:1]


def test_both_sides_of_relationships_share_a_lane_and_wait_for_their_own_functions() -> None:
    def tied() -> Topology:
        tie = relationship("db", CONNECTED_TO, source={"establish": "pluginA.tie"}, to={"establish": "pluginB.tie"})
        return expand(blueprint(node("db"), node("web", tie, instances=2)), suffixes=1)

    driver = Deployments()
    (both,) = driver.install(tied())
    sources = [member for member in range(4) if _kind(both, member) is SubjectKind.SOURCE]
    assert driver.install(tied()) == []
    (of_sources,) = driver.answer(both, DONE, sources)
    assert {segment.kind for segment in of_sources.segments} == {SubjectKind.SOURCE}


def _kind(batch: Batch, member: int) -> SubjectKind:
    return batch.members.place_of(member)[0].kind


def test_a_crowd_of_executions_is_told_apart_by_function_and_served_in_turns() -> None:
    driver = Deployments()
    (hangs,) = driver.install(topology(a=("pluginA.create", 1)))
    mixed = {1: topology(a=("pluginA.create", 2), b=("pluginB.create", 1)), 0: topology(b=("pluginB.create", 2))}
    driver.tell(*(Submitted(number, number) for number in range(2, 42)))
    before = len(driver.batches)
    driver.tell(*(Planned(n, graph(mixed[n % 2]), n, Functions(mixed[n % 2], CODE)) for n in range(2, 42)))
    (others,) = driver.batches[before:]
    assert len(others) == 20 * 1 + 20 * 2
    assert driver.answer(others) == []
    (of_a,) = driver.answer(hangs)
    assert driver.called([of_a]) == [dict.fromkeys(range(3, 42, 2), 2)]


def test_large_graphs_among_others_are_asked_for_as_columns() -> None:
    driver = Deployments()
    (hangs,) = driver.install(topology(a=("pluginA.create", 1)))
    large = [topology(a=("pluginA.create", 50), b=("pluginB.create", 50)) for _ in range(2)]
    driver.tell(Submitted(2, 2), Submitted(3, 3))
    before = len(driver.batches)
    driver.tell(*(Planned(n, graph(large[n - 2]), n, Functions(large[n - 2], CODE)) for n in (2, 3)))
    assert driver.called(driver.batches[before:]) == [{2: 50, 3: 50}]
    assert driver.called(driver.answer(hangs)) == [{2: 50, 3: 50}]


def test_shelves_follow_their_entries_when_holes_are_closed() -> None:
    driver = Deployments(slots={"bulk": 3, "threads": 1, "workers": 1})
    driver.scheduler = Scheduler(checked=True, compact_from=0)
    driver.tell(SlotsChanged("bulk", 3))
    (ends,) = driver.install(topology(x=("other.create", 300)))
    (hangs,) = driver.install(topology(a=("pluginA.create", 1)))
    driver.install(topology(a=("pluginA.create", 2)))
    driver.tell(CancelRequested(1, "force"))
    driver.tell(Planned(1, Verdict(ExecutionStatus.CANCELED)))
    driver.sleep(1)
    assert ends.id not in driver.scheduler.batches
    assert driver.called(driver.answer(hangs)) == [{3: 2}]
