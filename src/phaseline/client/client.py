"""The client: all operations on a store, grouped by noun. ``phaseline.open()`` returns a client.

Python programs and the command line use the same methods. A client that talks to a server would differ only in
``_call``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Generic, Literal, Protocol, Self, TypeVar, overload

from phaseline.client.operations import DOCTOR, INIT, STATUS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from phaseline.app.watcher import Watcher
    from phaseline.client.blueprints import BlueprintsNoun
    from phaseline.client.breakpoints import BreakpointsNoun
    from phaseline.client.deployments import DeploymentsNoun
    from phaseline.client.estate.groups import GroupsNoun
    from phaseline.client.estate.schedules import SchedulesNoun
    from phaseline.client.executions import ExecutionsNoun
    from phaseline.client.hooks import HooksNoun
    from phaseline.client.instances import InstancesNoun
    from phaseline.client.operations import ClientOperation
    from phaseline.client.plans import PlansNoun
    from phaseline.client.plugins import PhasesNoun, PluginsNoun
    from phaseline.client.resources import ResourcesNoun
    from phaseline.client.secrets import SecretsNoun
    from phaseline.client.snapshots import AbandonedNoun, SnapshotsNoun
    from phaseline.client.upkeep import CompletionNoun, EngineNoun, RecordsNoun, StoreNoun
    from phaseline.model.rows.orders import RequestId
    from phaseline.use_cases.queries.status import Status
    from phaseline.use_cases.tools.doctor import Check
    from phaseline.use_cases.tools.scaffold import NewProject

T = TypeVar("T")
N = TypeVar("N", bound="Noun")


def hear_nothing(_news: object) -> None:
    """Do nothing; this is the default of parameters that receive news."""


class CallOperation(Protocol):
    """The function that carries out an operation, in this process or elsewhere."""

    def __call__(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Carry out the operation ``op`` and return its answer.

        ``watcher``: receives the progress of an execution. ``detach``: do not wait for the end of the execution.
        """
        ...


class Noun:
    """Base class of the groups of operations on one kind of object, such as ``client.executions``."""

    def __init__(self, call: CallOperation) -> None:
        """Keep the function that carries out the operations."""
        self._call = call


class NounOf(Generic[N]):
    """Descriptor for a noun of a client: it imports the module of the noun when that is used for the first time."""

    def __init__(self, home: str) -> None:
        """Create the descriptor. ``home``: ``module:class`` of the noun, with the module in ``phaseline.client``."""
        self._home = home
        self._name = ""

    def __set_name__(self, _owner: type, name: str) -> None:
        """Remember the attribute name on the client."""
        self._name = name

    @overload
    def __get__(self, client: None, _owner: type) -> Self: ...
    @overload
    def __get__(self, client: Client, _owner: type) -> N: ...
    def __get__(self, client: Client | None, _owner: type) -> Self | N:
        """Return the noun of this client; on the class, return this descriptor."""
        if client is None:
            return self
        kind = self.kind
        if client.checks_arguments:
            from phaseline.client.argument_checks import checked

            kind = checked(kind, self._name)
        noun = kind(client._call)  # noqa: SLF001 - the nouns are the client's own
        vars(client)[self._name] = noun
        return noun

    @property
    def kind(self) -> type[N]:
        """The class of the noun, which is imported at each access."""
        module, _, name = self._home.partition(":")
        found: type[N] = getattr(import_module(f"phaseline.client.{module}"), name)
        return found


class Client:
    """All operations on one store, grouped by noun. Close the client, or use it as a context manager.

    ``blueprints``, ``deployments``, ``executions``, ``plans``, ``breakpoints``, ``instances``, ``resources``,
    ``plugins``, ``phases``, ``hooks``, ``groups``, ``schedules``, ``secrets``, ``snapshots``, ``abandoned``,
    ``engine``, ``store``, ``records``, ``completion``.
    """

    blueprints: NounOf[BlueprintsNoun] = NounOf("blueprints:BlueprintsNoun")
    deployments: NounOf[DeploymentsNoun] = NounOf("deployments:DeploymentsNoun")
    executions: NounOf[ExecutionsNoun] = NounOf("executions:ExecutionsNoun")
    plans: NounOf[PlansNoun] = NounOf("plans:PlansNoun")
    breakpoints: NounOf[BreakpointsNoun] = NounOf("breakpoints:BreakpointsNoun")
    instances: NounOf[InstancesNoun] = NounOf("instances:InstancesNoun")
    plugins: NounOf[PluginsNoun] = NounOf("plugins:PluginsNoun")
    phases: NounOf[PhasesNoun] = NounOf("plugins:PhasesNoun")
    resources: NounOf[ResourcesNoun] = NounOf("resources:ResourcesNoun")
    hooks: NounOf[HooksNoun] = NounOf("hooks:HooksNoun")
    groups: NounOf[GroupsNoun] = NounOf("estate.groups:GroupsNoun")
    schedules: NounOf[SchedulesNoun] = NounOf("estate.schedules:SchedulesNoun")
    secrets: NounOf[SecretsNoun] = NounOf("secrets:SecretsNoun")
    snapshots: NounOf[SnapshotsNoun] = NounOf("snapshots:SnapshotsNoun")
    abandoned: NounOf[AbandonedNoun] = NounOf("snapshots:AbandonedNoun")
    engine: NounOf[EngineNoun] = NounOf("upkeep:EngineNoun")
    store: NounOf[StoreNoun] = NounOf("upkeep:StoreNoun")
    records: NounOf[RecordsNoun] = NounOf("upkeep:RecordsNoun")
    completion: NounOf[CompletionNoun] = NounOf("upkeep:CompletionNoun")

    checks_arguments = False
    """Whether the methods of the nouns check their arguments before they do anything."""

    def _call(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Carry out an operation. Another kind of client needs to replace only this method."""
        raise NotImplementedError

    def status(self, name: str | None = None) -> Status:
        """Return the state of the whole store, or of the deployment with this name."""
        return self._call(STATUS, deployment=name)

    def doctor(self) -> Sequence[Check]:
        """Examine the machine, the settings and the store for problems, without changing anything."""
        return self._call(DOCTOR)

    def init(self, folder: str, kind: Literal["blueprint", "plugin"] = "blueprint") -> NewProject:
        """Write a small blueprint, or a plugin with a test, into a new or empty folder."""
        return self._call(INIT, folder=folder, kind=kind)

    def request_id(self, id: str) -> AbstractContextManager[RequestId]:
        """Open a context in which a request of this thread is carried out only once per ``id``.

        If the request is repeated in a context with the same id, it returns the first answer, and the value of the
        context has ``is_repeated`` True. Raises: PL-C094 for an invalid id; within the context PL-C097 for a different
        request with the same id.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the store."""

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()
