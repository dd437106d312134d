"""Services of an engine without a process: built-in planners, and one declaration for all operations."""

from tests.store import builders as a
from tests.store.engines import ScriptedExecutor

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.plan.workflows import PLANNERS
from phaseline.run.loop.engine_services import EngineServices
from phaseline.testing.builders import operation
from phaseline.testing.plain_services import REPEATABLE, PlainServices

HERE = CodeLocation(".")


def test_built_in_planners_are_found_by_name() -> None:
    services: EngineServices = PlainServices(ScriptedExecutor)
    assert services.planner("install", a.blueprint(), HERE) is PLANNERS["install"]
    assert services.planner("of nothing", a.blueprint(), HERE) is None


def test_all_operations_are_declared_alike() -> None:
    bulk = Declaration(bulk=True)
    assert PlainServices(ScriptedExecutor).declare(operation("create"), HERE) == REPEATABLE
    assert PlainServices(ScriptedExecutor, lambda _: bulk).declare(operation("create"), HERE) is bulk


def test_there_are_no_files_and_no_plugins_to_reload() -> None:
    services = PlainServices(ScriptedExecutor)
    assert services.files_of(1, HERE, "blueprint.yaml") is None
    assert services.reload() is None
