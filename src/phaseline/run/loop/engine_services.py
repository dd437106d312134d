"""The services that a process provides for its engine: planners, phases, secrets, files, an executor, and listeners."""

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
    from phaseline.model.rows.maintenance import Purged
    from phaseline.model.rows.rows import EventRow
    from phaseline.plan.topology.stack_document import FilesTaken
    from phaseline.ports.estate import Estate
    from phaseline.ports.executor import Executor
    from phaseline.ports.secrets import SecretSource
    from phaseline.run.loop.engine import Engine
    from phaseline.run.phases.active_phases import PhaseSource


class EngineServices(PlannerSource, Protocol):
    """What an engine needs from its process. The engine calls these methods in its own thread, once a turn at most."""

    @property
    def phases(self) -> PhaseSource | None:
        """The source of phases, read when the first resource needs a phase; None if there are no phases."""
        ...

    @property
    def secrets(self) -> SecretSource | None:
        """The source of secrets for calls; None if there are no secrets."""
        ...

    @property
    def estate(self) -> Estate | None:
        """What calls in this process may ask about deployments, executions and blueprints; None if there is nothing."""
        ...

    def make_executor(self, inbox: Inbox[CallReport], deployments: DeploymentCache) -> Executor:
        """Return the executor of this engine; it puts the outcomes of calls into ``inbox``."""
        ...

    def files_of(self, deployment: int, code: CodeLocation, file: str) -> FilesTaken | None:
        """Return the files of a deployment's blueprint, for the document that is stored when it is abandoned."""
        ...

    def reload(self) -> Mapping[str, Value] | None:
        """Reload plugins and return the answer to the request, or None if this process has no plugins."""
        ...

    def purged(self, removed: Purged, trouble: str) -> None:
        """React to the end of a round of retention. ``trouble``: why it ended early, or empty."""
        ...

    def events_stored(self, engine: Engine, events: Sequence[EventRow]) -> None:
        """React to the events that a turn has just stored."""
        ...

    def turn_ended(self, engine: Engine) -> None:
        """React to the end of a turn that ran in the loop's thread, for example by showing the progress."""
        ...
