"""A yard whose phases are plugin files, called by a real executor; the clock is moved by the test."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.run.worlds import PATIENCE_S
from tests.run.yard import Yard

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.catalog.phases.plugin_set import PhasePlugins
from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.engine.stories import Stories
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.phases.definitions import PhaseCode
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.run.executors.local_executor import LocalExecutor, Slots
from phaseline.run.loop.engine import Engine
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices


class Files:
    """``run.phases.active_phases.PhaseSource`` of a folder."""

    def __init__(self, plugins: PhasePlugins, catalog: PluginCatalog) -> None:
        self.plugins, self.catalog = plugins, catalog
        self.types = plugins.types
        plugins.load()

    def registry(self) -> PhaseRegistry:
        return self.plugins.loaded.registry

    def function(self, code: PhaseCode) -> Callable[..., object]:
        return self.catalog.load_phase(code)


class Plant(Yard):
    """``folder`` holds the plugins; they are read by a new engine, or by ``renew``."""

    def __init__(self, folder: Path, *, slots: Slots | None = None, clock: object = None) -> None:
        self.folder = folder
        self.executor_slots = slots
        self._clock = clock
        super().__init__()

    def begin_engine(self) -> None:
        if self._clock is not None:
            self.clock = self._clock
            self.store._clock = self._clock
        before = getattr(self, "engine", None)
        if before is not None:
            before.executor.stop(0)  # what its threads bring from now on nobody hears
        catalog = PluginCatalog()
        self.source = Files(catalog.phases(lambda: [str(self.folder)]), catalog)
        self.store.disown()
        self.owning = self.store.own("a test")
        lease = self.owning.__enter__()
        self.engine = Engine(
            self.store,
            self.clock,
            PlainServices(
                lambda inbox, deployments: LocalExecutor(
                    inbox, deployments, catalog, self.clock, CallerRegistry(make_caller), self.executor_slots
                ),
                lambda _: Declaration("phase", bulk=True, repeatable=True),
                after_turn=self._after_turn,
                reloaded=self._reloaded,
                phases=self.source,
            ),
            lease,
        )
        self.deployments = self.engine.deployments
        self.inbox = self.engine._inbox
        self.engine.scheduler.arena.stories = Stories()

    def _reloaded(self) -> dict[str, Value]:
        return {"done": not self.source.plugins.load().problems}

    def plugin(self, name: str, code: str, *lines: str) -> None:
        """A pair of files; a definition without a name of its own is of nodes in Allocation."""
        self.folder.mkdir(parents=True, exist_ok=True)
        known = {line.partition("=")[0].strip().lower() for line in lines}
        usual = {"PhaseName": name, "HandlesStates": "Allocation", "ResourceType": "Cloud.Node"}
        said = [f"{key} = {value}" for key, value in usual.items() if key.lower() not in known]
        (self.folder / f"{name}.cfg").write_text("\n".join([*said, *lines]) + "\n")
        (self.folder / f"{name}.py").write_text(code)

    def until(self, is_enough: Callable[[], bool]) -> None:
        """Turn until it holds."""
        patience = time.monotonic() + PATIENCE_S
        while not is_enough():
            assert time.monotonic() < patience, "it does not come"
            self.engine.turn()

    def until_is(self, name: str, phase: str, status: str) -> None:
        self.until(lambda: self.stay(name).get(phase) == status)

    def until_in(self, state: str, *names: str) -> None:
        self.until(lambda: all(self.state(name) == state for name in names))

    def close(self) -> None:
        self.engine.close(0)
        self.owning.__exit__(None, None, None)


__all__ = ["Plant", "Slots", "VirtualClock"]
