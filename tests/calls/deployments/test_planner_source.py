"""The planner of a workflow comes from the source that the engine was given, for the blueprint and code of the deployment."""

from tests.store import builders as a
from tests.store.engines import ScriptedExecutor, turn

from phaseline.calls.deployments.planner_driver import Planner
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.graph.status import ExecutionStatus
from phaseline.run.loop.engine import Engine
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices


class AskedServices(PlainServices):
    """A source without any planner, which notes what is asked."""

    def __init__(self) -> None:
        super().__init__(ScriptedExecutor)
        self.asked: list[tuple[str, str]] = []

    def planner(self, name: str, blueprint: Blueprint, code: CodeLocation) -> Planner | None:
        self.asked.append((name, code.blueprint_folder))
        return None


def test_a_workflow_without_a_planner_fails_with_its_name() -> None:
    clock, services = VirtualClock(1_000), AskedServices()
    store = MemoryStore(clock, identity="store")
    a.installed(store)
    with store.own("a test") as lease:
        engine = Engine(store, clock, services, lease)
        engine.recover()
        assert isinstance(engine.executor, ScriptedExecutor)
        turn(engine, engine.executor, 5)
    (row,) = store.executions()
    assert services.asked[0] == (row.request.workflow, "/blueprints")
    assert (row.status, row.request.workflow in row.reason) == (ExecutionStatus.FAILED, True)
