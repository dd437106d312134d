"""What every noun is made of: the one way in which it asks for an operation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar, overload

if TYPE_CHECKING:
    from phaseline.app.watcher import Watcher
    from phaseline.client.client import Client
    from phaseline.client.operations import ClientOperation

T = TypeVar("T")
N = TypeVar("N", bound="Noun")


def hear_nothing(_news: object) -> None:
    """For callers that want no news meanwhile."""


class CallOperation(Protocol):
    """Carries an operation out, wherever that is."""

    def __call__(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Its answer. ``watcher``: hears how an execution goes on; ``detach``: does not wait for its end."""
        ...


class Noun:
    """What can be done with one kind of thing."""

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
        """The name by which programs reach it."""
        self._name = name

    @overload
    def __get__(self, client: None, _owner: type) -> Self: ...
    @overload
    def __get__(self, client: Client, _owner: type) -> N: ...
    def __get__(self, client: Client | None, _owner: type) -> Self | N:
        """The noun over this client; of the class itself: this."""
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
        """The class, imported now."""
        module, _, name = self._home.partition(":")
        found: type[N] = getattr(import_module(f"phaseline.client.{module}"), name)
        return found
