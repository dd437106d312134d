"""RF1: a long-lived engine keeps nothing of what was deleted, and of idle deployments no more than its bound."""

import gc
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.run.engines import ANN, Station
from tests.store import engines

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.deployments.lane_keys import NUMBERS_KEPT, LaneKeys
from phaseline.calls.protocol.call import ExecutionContext
from phaseline.engine.lanes.rate_limits import BUCKETS_KEPT, TokenBuckets
from phaseline.engine.scheduler import Scheduler
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.events import Planned, Submitted
from phaseline.model.execution.execution import Request, RetryPolicy, Verdict
from phaseline.model.graph.graph import LaneSpec
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import NewDeployment, NewExecution
from phaseline.run.loop.eviction import MOST_BYTES, EndedExecutions, bytes_of
from phaseline.run.loop.request_reader import LOOK_MS
from phaseline.store.sqlite.store import SqliteStore
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.simulation import simulate

WARM_CYCLES, CYCLES, INSTANCES = 12, 15, 300
GROWTH_BYTES = 6_000
"""A cycle may add so much: a bounded number of answered batches and ended executions is remembered."""
KEPT = (LoadedDeployment, ExecutionContext)


def machines(count: int = 1):
    return node("vm", instances=count, create="cloud.make", delete="cloud.drop")


def look(station: Station) -> None:
    """The engine looks what others have done."""
    station.clock.advance_to(station.clock.now() + LOOK_MS)
    station.inbox.wake()
    station.engine.turn()


def installed(station: Station, name: str, count: int = 1) -> int:
    number = station.deployment(machines(count), name=name)
    station.submit(number)
    station.complete_all()
    return number


def test_rf1_cycles_of_install_uninstall_delete_leave_nothing_in_the_engine(tmp_path: Path) -> None:
    store, told = (
        SqliteStore.open(tmp_path / "store.db", clock := VirtualClock(1_700_000_000_000)),
        blueprint(machines(INSTANCES)),
    )
    with engines.engine(store, clock) as (engine, executor):

        def cycle(name: str) -> None:
            new = NewDeployment(name, told, {}, topology(told), CodeLocation("/nowhere"), ANN, clock.now())
            number, _ = store.create_deployment(new)
            for workflow in ("install", "uninstall"):
                request = Request(workflow, {}, RetryPolicy(3, 1.0))
                row = store.create_execution(NewExecution(number, request, ANN, clock.now()), asks=False)
                engine.submit(row)
                while not engine.has_ended(row.number):
                    engines.turn(engine, executor, 1)
            store.delete_deployment(number)
            clock.advance_to(clock.now() + LOOK_MS)
            engines.turn(engine, executor, 1)
            executor.called.clear()

        tracemalloc.start()
        for number in range(WARM_CYCLES):
            cycle(f"warm{number}")
        gc.collect()
        before = Counter(type(one) for one in gc.get_objects())
        began, _ = tracemalloc.get_traced_memory()
        for number in range(CYCLES):
            cycle(f"app{number}")
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - began
        tracemalloc.stop()
        after = Counter(type(one) for one in gc.get_objects())
    store.close()
    assert {kind.__name__: after[kind] - before[kind] for kind in KEPT if after[kind] > before[kind]} == {}
    assert grown < GROWTH_BYTES * CYCLES, f"{grown // CYCLES} bytes a cycle"


def test_rf1_a_deployment_that_another_process_deletes_is_dropped_at_the_next_look(tmp_path: Path) -> None:
    clock = VirtualClock(1_700_000_000_000)
    store, other = (SqliteStore.open(tmp_path / "store.db", clock) for _ in range(2))
    with engines.engine(store, clock) as (engine, executor):
        number, id = engines.deployed(store, "app", clock.now())
        engine.recover()
        engines.turn(engine, executor)
        assert engine.has_ended(store.execution(id).number)
        assert engine.deployments.held(number) is not None, "idle ones are kept within the bound"
        other.delete_deployment(number)
        clock.advance_to(clock.now() + LOOK_MS)
        engines.turn(engine, executor, 1)
        assert engine.deployments.held(number) is None
        assert engine.eviction.idle_bytes == 0
    for one in (store, other):
        one.close()


def test_rf1_idle_deployments_beyond_the_bound_go_the_least_recently_used_first() -> None:
    station = Station()
    first, second, third = (installed(station, name) for name in ("first", "second", "third"))
    station.submit(first, "uninstall")
    station.complete_all()
    bytes_of_all = station.engine.eviction.idle_bytes
    station.engine.eviction.most_bytes = bytes_of_all - 1
    installed(station, "fourth")
    held = [number for number in (first, second, third) if station.deployments.held(number) is not None]
    assert second not in held
    assert first in held, "it was used after the others"
    assert station.engine.eviction.idle_bytes < bytes_of_all
    assert station.engine.eviction.most_bytes < MOST_BYTES


def test_rf1_what_was_evicted_is_read_again_with_all_that_calls_have_written() -> None:
    station = Station()
    station.engine.eviction.most_bytes = 0
    number = station.deployment(machines())
    row = station.submit(number)
    station.answer(station.find("create", "vm_1"), properties={"ip": "10.0.0.1"})
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert station.deployments.held(number) is None
    assert station.deployments.loaded(number).document_of(0) == {"ip": "10.0.0.1"}
    again = station.submit(number, "uninstall")
    station.complete_all()
    assert station.status(again) is ExecutionStatus.COMPLETED
    assert station.states(again) == {"vm_1": "deleted"}


def test_rf1_nothing_is_dropped_while_a_call_that_was_given_up_may_still_write() -> None:
    station = Station()
    station.engine.eviction.most_bytes = 0
    number = station.deployment(machines())
    row = station.submit(number)
    late = station.find("create", "vm_1")
    station.engine.cancel(row.number, "force")
    station.settle()
    assert station.status(row) is ExecutionStatus.CANCELED
    held = station.deployments.held(number)
    assert held is not None
    station.store.delete_deployment(number)
    look(station)
    assert station.deployments.held(number) is held, "deleted, but its call still runs"
    station.answer(late, properties={"ip": "10.0.0.1"})
    look(station)
    assert station.deployments.held(number) is None
    assert station.store.documents(number) == {0: {"ip": "10.0.0.1"}}


def test_rf1_a_failed_execution_that_was_evicted_goes_on_by_a_retry() -> None:
    station = Station()
    station.engine.eviction.most_bytes = 0
    number = station.deployment(machines(2))
    row = station.submit(number)
    station.answer(station.find("create", "vm_1"))
    station.answer(station.find("create", "vm_2"), OutcomeKind.FAILED, message="no quota")
    station.complete_all()
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.deployments.held(number) is None
    station.engine.retry(station.row(row))
    station.settle()
    assert ("create", "vm_1") not in station.names()
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert set(station.states(row).values()) == {"started"}


@pytest.mark.parametrize("seed", range(1, 40, 2))
def test_rf1_engines_that_evict_at_random_moments_keep_every_promise(seed: int) -> None:
    simulate(seed)


def test_rf1_the_simulation_does_evict() -> None:
    assert sum(simulate(seed).evictions for seed in range(1, 20, 2)) > 5


def test_rf1_ended_executions_are_remembered_as_ranges() -> None:
    ended = EndedExecutions()
    order = np.random.default_rng(7).permutation(5_000).tolist()
    for number in order:
        ended.add(number)
        ended.add(number)
    assert ended.ranges == [(0, 5_000)]
    for number in range(0, 5_000, 1_000):
        ended.discard(number)
        ended.discard(number)
    assert [number for number in range(-5, 5_005) if number in ended] == [
        number for number in range(5_000) if number % 1_000
    ]
    ended.add(1_000)
    assert (1, 2_000) in ended.ranges


def test_rf1_graphs_without_entries_leave_no_places_in_the_arena() -> None:
    from phaseline.model.graph.graph import without_entries

    scheduler, graphs = Scheduler(compact_from=50), iter(range(1, 10_000))
    for number in range(1, 200):
        scheduler.handle([Submitted(number, number)], 0)
        scheduler.handle([Planned(number, without_entries("shape"), next(graphs))], 0)
        scheduler.handle([Planned(number, Verdict(ExecutionStatus.COMPLETED))], 0)
    assert not scheduler.runs
    assert len(scheduler.arena.order) <= 60


def test_rf1_numbers_of_lane_keys_are_forgotten_when_no_lane_uses_them() -> None:
    keys, lanes = LaneKeys(), Scheduler().lanes
    spec = LaneSpec("create")
    used = keys.number("properties.region", "berlin")
    lanes.lane(0, spec, used)
    for number in range(NUMBERS_KEPT + 10):
        keys.number("deployment.id", f"app{number}")
    keys.trim(lanes)
    assert keys.number("properties.region", "berlin") == used
    assert keys.number("deployment.id", "app3") > NUMBERS_KEPT, "no number is given twice"


def test_rf1_buckets_of_rates_that_are_full_are_forgotten() -> None:
    rates, spec = TokenBuckets(), LaneSpec("phase:A", rate=1.0, burst=1)
    for key in range(BUCKETS_KEPT + 2):
        rates.take(spec, key, 0)
    rates.take(spec, 1, 500)
    assert len(rates.keys) == BUCKETS_KEPT + 2, "none is full yet"
    for key in range(3 * BUCKETS_KEPT):
        rates.take(spec, 10 * BUCKETS_KEPT + key, 5_000)
    assert len(rates.keys) < 4 * BUCKETS_KEPT


def test_bytes_of_a_document_are_those_of_all_its_levels() -> None:
    assert bytes_of({"a": {"b": ["c" * 5_000]}}) > 5_000
    assert bytes_of({"a": {"b": ["c" * 5_000]}}, 1) < 2_000
