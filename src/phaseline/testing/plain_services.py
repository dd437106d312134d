"""The services that an engine needs, without a process around it: for tests, simulations and rehearsals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.plan.workflows import PLANNERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.planner_driver import Planner
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.blueprint.blueprint import Blueprint, Operation, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.rows.maintenance import Purged
    from phaseline.model.rows.rows import EventRow
    from phaseline.plan.topology.stack_document import FilesTaken
    from phaseline.ports.estate import Estate
    from phaseline.ports.executor import Executor
    from phaseline.ports.secrets import SecretSource
    from phaseline.run.loop.engine import Engine
    from phaseline.run.phases.active_phases import PhaseSource

REPEATABLE = Declaration(repeatable=True)


@dataclass
class PlainServices:
    """``EngineServices`` with the built-in planners; all operations have declarations from one function."""

    executor: Callable[[Inbox[CallReport], DeploymentCache], Executor]
    declares: Callable[[Operation], Declaration] = lambda _: REPEATABLE
    planners: Mapping[str, Planner] | None = None
    after_turn: Callable[[Engine], None] | None = None
    phases: PhaseSource | None = None
    reloaded: Callable[[], Mapping[str, Value]] | None = None
    secrets: SecretSource | None = None
    estate: Estate | None = None
    purges: list[tuple[Purged, str]] = field(default_factory=list)

    def make_executor(self, inbox: Inbox[CallReport], deployments: DeploymentCache) -> Executor:
        """Return the given executor."""
        return self.executor(inbox, deployments)

    def planner(self, name: str, blueprint: Blueprint, code: CodeLocation) -> Planner | None:
        """Return the planner with this name; planners of the blueprint's own code are not looked up."""
        del blueprint, code
        return (PLANNERS if self.planners is None else self.planners).get(name)

    def declare(self, operation: Operation, code: CodeLocation) -> Declaration:
        """Return the declaration of an operation from the given function; the code's location is ignored."""
        del code
        return self.declares(operation)

    def files_of(self, deployment: int, code: CodeLocation, file: str) -> FilesTaken | None:
        """Return None: there are no files."""
        del deployment, code, file
        return None

    def reload(self) -> Mapping[str, Value] | None:
        """Return the given answer."""
        return None if self.reloaded is None else self.reloaded()

    def purged(self, removed: Purged, trouble: str) -> None:
        """Keep what retention has removed, and its trouble."""
        self.purges.append((removed, trouble))

    def events_stored(self, engine: Engine, events: Sequence[EventRow]) -> None:
        """Ignore the events."""

    def turn_ended(self, engine: Engine) -> None:
        """Call what was given for this."""
        if self.after_turn is not None:
            self.after_turn(engine)
