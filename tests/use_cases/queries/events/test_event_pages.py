"""The last events of an execution: the same as the last of all that can be told, and told without telling the rest."""

from __future__ import annotations

import cProfile
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.simulation.test_day_two import DayTwo
from tests.simulation.test_scaling import Scaled
from tests.use_cases.naive_events import all_events, selected

from phaseline.app.settings import Settings
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.ports.store import Store
from phaseline.testing.simulation.world import World, let_go
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.events.event_pages import Narrated
from phaseline.use_cases.queries.events.events_and_logs import event_pages, events
from phaseline.use_cases.queries.events.line_filter import ANY, LineFilter

SEEDS = range(6)
EVERY = 7
"""Turns from one look to the next."""
LIMITS = (0, 1, 5, 50, None)

FEW, MANY, PAGE = 500, 4_000, 50
MOST_BYTES = 1_000
"""Bytes that one more instance may cost at the peak of a look at the last events. It was 3,800, now it is about 425."""
MOST_LINE_BYTES = 60
"""Bytes that one more line may cost at the peak where all are printed, columns of calls included. Before pages it was some 900: 1,736 MB for 1.8 million events."""
ALL = 2_500
"""Instances that are told in three parts, the last of them smaller."""
MOST_CALLS = 24.3
"""Calls of functions for one line where all are told: 25.3 when each entry had its calls looked up by itself, now 23.1."""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins: {{many: {{executor: central_deployment_agent, install: false}}}}
node_templates:
  one:
    type: cloudify.nodes.Root
    capabilities: {{scalable: {{properties: {{default_instances: {count}}}}}}}
    interfaces:
      cloudify.interfaces.lifecycle: {{create: many.many.{how}, configure: many.many.{how}, start: many.many.{how}}}
"""
PLUGIN = """\
from phaseline import operation


@operation(bulk=True, repeatable=True)
def at_once(batch):
    pass


@operation(bulk=True, repeatable=True, max_batch=100)
def in_parts(batch):
    pass
"""


@dataclass
class Place:
    """As much of a workplace as looking back needs."""

    store: Store


def look(store: Store) -> int:
    """Compare the last events of every execution with the last of all; how many lines were compared."""
    compared = 0
    for row in store.executions():
        if row.request.workflow == REACH_WORKFLOW:
            continue
        topology = store.topology(row.deployment)
        node = topology.nodes[0].name
        told = all_events(store, row)
        for wanted in (
            ANY,
            LineFilter(node=node),
            LineFilter(phase="create"),
            LineFilter(level="task"),
            LineFilter(text="failed"),
            LineFilter(node=node, level="workflow_node_event"),
        ):
            everything = selected(told, wanted, topology)
            for limit in LIMITS:
                found = events(Place(store), row.id, wanted=wanted, limit=limit)  # type: ignore[arg-type]  # a part of one
                assert found.total == len(everything), (row.id, wanted, limit)
                first = 0 if limit is None else max(0, len(everything) - limit)
                assert list(found.lines) == everything[first:], (row.id, wanted, limit)
                compared += len(found.lines)
    return compared


@pytest.mark.parametrize("world", [World, Scaled, DayTwo])
@pytest.mark.parametrize("seed", SEEDS)
def test_w12_the_last_events_are_the_last_of_all_that_are_told(world: type[World], seed: int) -> None:
    class Looking(world):  # type: ignore[valid-type, misc]  # each world in turn
        turns = compared = 0

        def _pass_time(self, *, must_move: bool) -> None:
            super()._pass_time(must_move=must_move)
            self.turns += 1
            if self.turns % EVERY == 0 and self.turns < 40 * EVERY:
                self.compared += look(self.store)

    here = Looking(seed)
    here.live()
    compared = here.compared + look(here.store)
    let_go(here.engine, here, here.store)
    assert compared > 0


def installed(folder: Path, count: int, how: str) -> Settings:
    """A store in which so many instances were installed with three calls each."""
    (folder / "plugins").mkdir(exist_ok=True)
    (folder / "plugins" / "many.py").write_text(PLUGIN)
    file = folder / f"{how}-{count}.yaml"
    file.write_text(BLUEPRINT.format(count=count, how=how))
    settings = Settings(f"sqlite:///{folder}/{how}-{count}.db")
    with open_context(settings, "a test") as ctx:
        follow(ctx, install(ctx, DeploymentSpec(str(file), "shop")))
    return settings


def peak_of_a_look(settings: Settings) -> int:
    """Bytes at the peak of a look at the last events, by a process that has looked before."""
    peak = 0
    for _ in range(2):
        with open_context(settings, "a test") as ctx:
            tracemalloc.start()
            found = events(ctx, deployment="shop", limit=PAGE)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert len(found.lines) == PAGE
    return peak


@pytest.mark.parametrize("how", ["at_once", "in_parts"])
def test_memory_of_the_last_events_hardly_grows_with_the_execution(tmp_path: Path, how: str) -> None:
    few, many = (peak_of_a_look(installed(tmp_path, count, how)) for count in (FEW, MANY))
    assert (many - few) / (MANY - FEW) < MOST_BYTES


def peak_of_all(settings: Settings) -> tuple[int, int]:
    """(bytes at the peak of all events page by page, how many there are), by a process that has looked before."""
    with open_context(settings, "a test") as ctx:
        next(iter(event_pages(ctx, deployment="shop").pages))
    with open_context(settings, "a test") as ctx:
        tracemalloc.start()
        found = event_pages(ctx, deployment="shop")
        count = sum(map(len, found.pages))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert count == found.shown == found.total
    return peak, count


def test_all_events_are_printed_without_keeping_them(tmp_path: Path) -> None:
    (few, less), (many, more) = (peak_of_all(installed(tmp_path, count, "in_parts")) for count in (FEW, MANY))
    assert (many - few) / (more - less) < MOST_LINE_BYTES


@pytest.mark.parametrize("how", ["at_once", "in_parts"])
def test_no_more_instances_are_told_than_the_page_has_lines(tmp_path: Path, how: str) -> None:
    with open_context(installed(tmp_path, MANY, how), "a test") as ctx:
        (row,) = ctx.store.executions()
        narrated = Narrated(ctx.store, row, {})
        lines, total = narrated.last(PAGE, lambda _: True, None)
        assert (len(lines), total) == (PAGE, len(list(narrated.all())))
        narrated = Narrated(ctx.store, row, {})
        narrated.last(PAGE, lambda _: True, None)
        assert 0 < narrated.told <= PAGE


@pytest.mark.parametrize("how", ["at_once", "in_parts"])
def test_all_events_told_by_the_thousand_are_those_told_one_by_one_for_less_work(tmp_path: Path, how: str) -> None:
    with open_context(installed(tmp_path, ALL, how), "a test") as ctx:
        (row,) = ctx.store.executions()
        work = cProfile.Profile()
        everything = work.runcall(lambda: list(Narrated(ctx.store, row, {}).all()))
        one_by_one, total = Narrated(ctx.store, row, {}).last(len(everything), lambda _: True, None)
    assert total == len(everything) >= 3 * ALL
    assert everything == one_by_one
    calls = sum(one.callcount for one in work.getstats())
    assert calls / total < MOST_CALLS
