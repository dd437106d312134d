"""The client: all operations on a store, grouped by noun. ``phaseline.open()`` returns one.

Programs and the command line use the same methods. A client of a server would differ only in ``_call``.
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
    """Ignore news; the default for callers that need none."""


class CallOperation(Protocol):
    """The function that carries an operation out, in this process or elsewhere."""

    def __call__(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Return the answer. ``watcher``: receives the progress of an execution; ``detach``: do not wait for its end."""
        ...


class Noun:
    """The operations on one kind of object."""

    def __init__(self, call: CallOperation) -> None:
        """``call`` carries the operations out."""
        self._call = call


class NounOf(Generic[N]):
    """A noun of a client: its module is imported when the noun is used for the first time."""

    def __init__(self, home: str) -> None:
        """``home``: ``module:class`` in ``phaseline.client``."""
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
        """Return the noun of this client; on the class, this descriptor."""
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
        """The class of the noun, imported on access."""
        module, _, name = self._home.partition(":")
        found: type[N] = getattr(import_module(f"phaseline.client.{module}"), name)
        return found


class Client:
    """All operations on one store, grouped by noun; close it, or use it as a context manager.

    ``blueprints``, ``deployments``, ``executions``, ``plans``, ``breakpoints``, ``instances``, ``resources``, ``plugins``, ``phases``, ``hooks``,
    ``secrets``, ``snapshots``, ``abandoned``, ``engine``, ``store``, ``records``, ``completion``.
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
    secrets: NounOf[SecretsNoun] = NounOf("secrets:SecretsNoun")
    snapshots: NounOf[SnapshotsNoun] = NounOf("snapshots:SnapshotsNoun")
    abandoned: NounOf[AbandonedNoun] = NounOf("snapshots:AbandonedNoun")
    engine: NounOf[EngineNoun] = NounOf("upkeep:EngineNoun")
    store: NounOf[StoreNoun] = NounOf("upkeep:StoreNoun")
    records: NounOf[RecordsNoun] = NounOf("upkeep:RecordsNoun")
    completion: NounOf[CompletionNoun] = NounOf("upkeep:CompletionNoun")

    checks_arguments = False
    """Whether the methods of the nouns check their arguments first."""

    def _call(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Carry an operation out; the only method that another kind of client must replace."""
        raise NotImplementedError

    def status(self, name: str | None = None) -> Status:
        """Return the state of the whole store, or of the deployment of this name."""
        return self._call(STATUS, deployment=name)

    def doctor(self) -> Sequence[Check]:
        """Examine the machine, the settings and the store; changes nothing."""
        return self._call(DOCTOR)

    def init(self, folder: str, kind: Literal["blueprint", "plugin"] = "blueprint") -> NewProject:
        """Write a small blueprint, or a plugin with a test, into a new or empty folder."""
        return self._call(INIT, folder=folder, kind=kind)

    def request_id(self, id: str) -> AbstractContextManager[RequestId]:
        """Carry out the request that this thread makes in the context only once, however often it is repeated with this id.

        A repeated request returns the first answer; the value of the context has ``is_repeated``. Raises: PL-C094 for an invalid
        id; within the context PL-C097 for a different request with the same id.
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
