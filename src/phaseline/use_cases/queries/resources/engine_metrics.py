"""Metrics of the engine about phases (section 12), which a running engine stores every second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.resources.state_graph_names import ENGINE_MEASURE

if TYPE_CHECKING:
    from phaseline.ports.tenant_store import TenantStore


@frozen
class PoolNow:
    """A pool of concurrent calls: ``size`` is the number of calls that can run at once, ``busy`` how many run now."""

    size: int
    busy: int


@frozen
class TimersNow:
    """How late the engine wakes sleeping entries.

    ``wakings``: number of wake-ups so far; ``lag_ms``: delay of the last one.
    """

    wakings: int
    lag_ms: int
    mean_lag_ms: int
    longest_lag_ms: int


@frozen
class ListenersNow:
    """Numbers of events for listeners.

    ``waiting``: events not delivered yet; ``told``: delivered events; ``errors``: delivered, but the listener raised an
    exception; ``dropped``: not delivered, because too many were waiting.
    """

    waiting: int
    told: int
    errors: int
    dropped: int


@frozen
class EngineNow:
    """The metrics of an engine at the time ``measured_at``.

    ``is_running`` False: the engine has ended; the counts are its last ones, and nothing is shown as busy or waiting.
    """

    is_running: bool
    measured_at: int
    pools: Mapping[str, PoolNow]
    timers: TimersNow
    listeners: ListenersNow


def engine_now(store: TenantStore) -> EngineNow | None:
    """Return the metrics of the engine that last worked with phases, or None if there was none."""
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
