"""H46: instances that stop at a breakpoint, while others go on, until somebody clears it."""

import numpy as np
import pytest
from tests.run.engines import Station

from phaseline.model.execution.breakpoints import Breakpoint, read_breakpoint
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.testing.builders import node, relationship

DAY_MS = 86_400_000
APPS = (
    node("db", create="each.create"),
    node("app_1", to=["db"], create="each.create", start="each.start"),
    node("app_2", create="each.create"),
    node("web", to=["app_1"], create="each.create"),
)


@pytest.fixture
def station() -> Station:
    return Station()


def stop(station: Station, *names: str) -> None:
    for one in station.called():
        if one.phase.startswith("breakpoint") and one.instance in names:
            station.answer(one, OutcomeKind.AGAIN, delay_ms=DAY_MS)


def clear(station: Station, row, name: str) -> None:
    graph = station.store.graphs(row.number)[-1]
    columns, topology = station.store.graph(graph.id), station.store.topology(row.deployment)
    (position,) = [
        position
        for step in columns.steps
        if step.phase.startswith("breakpoint")
        for position in range(step.first, step.first + step.count)
        if topology.ids[columns.subject[position]] == name
    ]
    station.engine.complete(station.row(row), graph.id, np.array([position]), reason="cleared", actor="ann")
    station.settle()


def test_h46_those_of_the_named_nodes_stop_with_who_waits_for_them_and_others_go_on(station: Station) -> None:
    row = station.install(*APPS, breakpoints=(read_breakpoint("pre-create=app_*"),))
    assert station.names() == [("create", "db_1"), ("breakpoint pre-create", "app_2_1")]
    stop(station, "app_2_1")
    station.complete("create", "db_1")
    assert station.names() == [("breakpoint pre-create", "app_1_1")]
    stop(station, "app_1_1")
    assert station.names() == []
    clear(station, row, "app_2_1")
    assert station.names() == [("create", "app_2_1")]
    clear(station, row, "app_1_1")
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert set(station.states(row).values()) == {"started"}


@pytest.mark.parametrize(
    ("point", "before"), [("post-create", "start"), ("pre-start", "start"), ("post-start", "establish")]
)
def test_h46_a_point_is_before_or_after_any_operation(station: Station, point: str, before: str) -> None:
    tied = relationship("db", source={"establish": "each.tie"})
    row = station.install(
        node("db"),
        node("web", tied, create="each.create", start="each.start"),
        breakpoints=(Breakpoint(point, "web"),),
    )
    order = []
    while out := station.called():
        order.append(out[0].phase)
        station.answer(out[0])
    stands = order.index(f"breakpoint {point}")
    assert order[stands + 1] == before
    assert order[:stands] == [name for name in ("create", "start") if name in order[:stands]]
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_h46_a_node_without_the_operation_stops_where_it_would_be(station: Station) -> None:
    row = station.install(node("bare"), breakpoints=(Breakpoint("pre-create"),))
    assert station.names() == [("breakpoint pre-create", "bare_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_h46_a_cancel_while_paused_ends_cleanly(station: Station) -> None:
    row = station.install(*APPS, breakpoints=(Breakpoint("pre-create", "app_2"),))
    stop(station, "app_2_1")
    station.engine.cancel(row.number)
    station.settle()
    station.complete("create", "db_1")
    assert station.status(row) is ExecutionStatus.CANCELED


def test_h46_a_crash_forgets_nobody_who_stands_there(station: Station) -> None:
    row = station.install(*APPS[2:3], breakpoints=(Breakpoint("pre-create"),))
    stop(station, "app_2_1")
    station.crash()
    station.engine.recover()
    station.settle()
    assert station.names() == []
    clear(station, row, "app_2_1")
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    told = [event.message for event in station.events(row)]
    assert any("cleared" in text for text in told)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, "is no breakpoint") for text in ("", "=web", "pre-", "pre-create web")),
        ("pre-create=web@soon", "'soon' is no span of time"),
    ],
)
def test_h46_what_is_no_breakpoint_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_breakpoint(text)


def test_h46_the_name_alone_means_before_it_and_a_time_out_may_follow() -> None:
    assert read_breakpoint("create=web") == read_breakpoint("pre-create=web")
    assert read_breakpoint("Acme.Create=n-*@90s", 600) == Breakpoint("pre-Acme.Create", "n-*", 90)
    assert read_breakpoint(str(Breakpoint("post-start", "db", 0.5))) == Breakpoint("post-start", "db", 0.5)
