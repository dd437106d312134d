"""The metrics of the engine for phases (section 12) as it stored them last, at most a second ago."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.resources.state_graph_names import ENGINE_MEASURE

if TYPE_CHECKING:
    from phaseline.ports.store import Store


@frozen
class PoolNow:
    """A pool of concurrent calls: its size and the number that run."""

    size: int
    busy: int


@frozen
class TimersNow:
    """The delay with which sleeping entries are woken: ``wakings`` so far, ``lag_ms`` of the last one."""

    wakings: int
    lag_ms: int
    mean_lag_ms: int
    longest_lag_ms: int


@frozen
class ListenersNow:
    """Numbers of events for listeners.

    ``waiting`` for delivery; ``told``: delivered; ``errors``: delivered but the listener raised; ``dropped``: too many waited.
    """

    waiting: int
    told: int
    errors: int
    dropped: int


@frozen
class EngineNow:
    """An engine at ``measured_at``. ``is_running`` False: it has ended; the counts are its last, nothing is busy or waits."""

    is_running: bool
    measured_at: int
    pools: Mapping[str, PoolNow]
    timers: TimersNow
    listeners: ListenersNow


def engine_now(store: Store) -> EngineNow | None:
    """The engine that last worked with phases; None: there was none."""
    told = store.measures().get(ENGINE_MEASURE)
    if told is None:
        return None
    body: Mapping[str, Any] = told.body
    owner = store.owner()
    is_running = owner is not None and owner.pid in {0, body["pid"]}  # 0: an owner without a process id
    pools = {
        name: PoolNow(pool["size"], pool["busy"] if is_running else 0) for name, pool in sorted(body["pools"].items())
    }
    listeners: Mapping[str, int] = body["listeners"]
    if not is_running:
        listeners = {**listeners, "waiting": 0}
    return EngineNow(is_running, told.at, pools, TimersNow(**body["timers"]), ListenersNow(**listeners))
