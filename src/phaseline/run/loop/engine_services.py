"""What an engine takes from its process: planners, declarations, phases, files, an executor, and where its news go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from phaseline.calls.deployments.planner_source import PlannerSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.rows.rows import EventRow
    from phaseline.plan.topology.stack_document import FilesTaken
    from phaseline.ports.executor import Executor
    from phaseline.ports.secrets import SecretSource
    from phaseline.run.loop.engine import Engine
    from phaseline.run.phases.active_phases import PhaseSource


class EngineServices(PlannerSource, Protocol):
    """The process around one engine. The engine calls these methods in its own thread, at most once a turn or a graph."""

    @property
    def phases(self) -> PhaseSource | None:
        """The source of phases, read when the first resource needs one; None: there are no phases."""
        ...

    @property
    def secrets(self) -> SecretSource | None:
        """Secrets for calls; None: there are none."""
        ...

    def make_executor(self, inbox: Inbox[CallReport], deployments: DeploymentCache) -> Executor:
        """The executor of this engine, which brings outcomes into ``inbox``."""
        ...

    def files_of(self, deployment: int, code: CodeLocation, file: str) -> FilesTaken | None:
        """The files of a blueprint in the document of an abandoned deployment."""
        ...

    def reload(self) -> Mapping[str, Value] | None:
        """Reload plugins, and return the answer of the request; None: this process has none."""
        ...

    def events_stored(self, engine: Engine, events: Sequence[EventRow]) -> None:
        """Events of a turn were stored."""
        ...

    def turn_ended(self, engine: Engine) -> None:
        """A turn of the thread of the loop has ended."""
        ...
