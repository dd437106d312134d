"""The client of a store that this process opens itself: ``phaseline.open()`` for programs, and every command."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from phaseline.client.client import Client

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from phaseline.app.app_context import Workplace
    from phaseline.app.settings import Settings
    from phaseline.app.watcher import Watcher
    from phaseline.client.operations import Operation
    from phaseline.model.rows.orders import RequestId

    T = TypeVar("T")


class LocalClient(Client):
    """Carries operations out in this process: imports the target when it is called, and waits for what it begins."""

    def __init__(
        self,
        place: Workplace | None,
        *,
        load: Callable[[], Settings] | None = None,
        keeps_to_store: bool = False,
        checks_arguments: bool = False,
    ) -> None:
        """``place`` is closed with it; None: for operations that need no store. ``load``: reads the settings, for ``doctor``.

        ``keeps_to_store``: an operation makes a store only if the table says so, and lists nothing where there is none.
        ``checks_arguments``: as for programs; the command line has looked at its words before.
        """
        self._place = place
        self._load = load
        self._keeps_to_store = keeps_to_store
        self.checks_arguments = checks_arguments

    @property
    def place(self) -> Workplace:
        """Where use cases work."""
        assert self._place is not None, "this client was made without a store"
        return self._place

    def _call(
        self, op: Operation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Import the target, call it, and return its answer."""
        module, _, name = op.target.partition(":")
        target: Callable[..., T] = getattr(import_module(module), name)
        if op.store == "none":
            return target(**arguments)
        if op.store == "examined":
            return target(self._settings, _without_engine)
        if watcher is not None:
            arguments["watcher"] = watcher
        if detach:
            arguments["detach"] = True
        place = self.place
        if self._keeps_to_store:
            place.makes_store = op.store == "made"
            place.only_lists = op.store == "listed"
        return target(place, **arguments)

    def _settings(self) -> Settings:
        return self.place.settings if self._load is None else self._load()

    def request_id(self, id: str) -> AbstractContextManager[RequestId]:
        """Have an order that this thread gives within carried out once, however often it is given under this id.

        Given again, it returns the answer of the first, and this yields ``is_repeated``. Raises: PL-C094, within PL-C097 for another order.
        """
        return self.place.requesting(id)

    def close(self) -> None:
        """Let go of the store."""
        if self._place is not None:
            self._place.close()


def _without_engine(settings: Settings) -> Workplace:
    """What ``doctor`` looks at a store with: it starts nothing."""
    from phaseline.app.app_context import Workplace

    return Workplace(settings, "phaseline doctor")
