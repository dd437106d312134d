"""The client of a store that this process opens itself: ``phaseline.open()`` for programs, and every command."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, cast

from phaseline.client.client import Client

if TYPE_CHECKING:
    from typing import TypeVar

    from phaseline.app.app_context import AppContext, RequestContext
    from phaseline.app.settings import Settings
    from phaseline.app.watcher import Watcher
    from phaseline.client.operations import ClientOperation
    from phaseline.model.rows.orders import RequestId
    from phaseline.use_cases.commands.submission import Submission, SubmissionFor, Submissions

    T = TypeVar("T")


class LocalClient(Client):
    """Carries operations out in this process: imports the target when it is called, and waits for what it begins."""

    def __init__(
        self,
        app: AppContext | None,
        *,
        load: Callable[[], Settings] | None = None,
        keeps_to_store: bool = False,
        checks_arguments: bool = False,
    ) -> None:
        """``app`` is closed with it; None: for operations that need no store. ``load``: reads the settings, for ``doctor``.

        ``keeps_to_store``: an operation makes a store only if the table says so, and lists nothing where there is none.
        ``checks_arguments``: as for programs; the command line has looked at its words before.
        """
        self._app = app
        self._of_thread = threading.local()
        self._load = load
        self._keeps_to_store = keeps_to_store
        self.checks_arguments = checks_arguments

    @property
    def app(self) -> AppContext:
        """The process in which use cases run."""
        assert self._app is not None, "this client was made without a store"
        return self._app

    @property
    def ctx(self) -> RequestContext:
        """The context of a call that this thread makes now: under its request id, if it has set one."""
        found: RequestContext | None = getattr(self._of_thread, "ctx", None)
        return self.app.request() if found is None else found

    def _call(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Import the target, call it, and return its answer."""
        module, _, name = op.target.partition(":")
        target: Callable[..., T] = getattr(import_module(module), name)
        if op.store == "none":
            return target(**arguments)
        if op.store == "examined":
            return target(self._settings, _without_engine)
        if self._keeps_to_store:
            self.app.makes_store = op.store == "made"
            self.app.only_lists = op.store == "listed"
        answer = target(self.ctx, **arguments)
        return answer if op.kind != "command" else self._followed(answer, watcher, detach=detach)

    def _followed(
        self, answer: T | Submission | SubmissionFor[T] | Submissions[T], watcher: Watcher | None, *, detach: bool
    ) -> T:
        """The answer of a command: of what it has submitted, when that was carried out."""
        from phaseline.use_cases.commands.submission import Submission, SubmissionFor, Submissions

        if not isinstance(answer, (Submission, SubmissionFor, Submissions)):
            return answer
        from phaseline.embedded.follow import follow

        return cast("T", follow(self.ctx, answer, watcher, detach=detach))

    def _settings(self) -> Settings:
        return self.app.settings if self._load is None else self._load()

    @contextmanager
    def request_id(self, id: str) -> Iterator[RequestId]:
        """Have an order that this thread gives within carried out once, however often it is given under this id.

        Given again, it returns the answer of the first, and this yields ``is_repeated``. Raises: PL-C094, within PL-C097 for another order.
        """
        former, found = getattr(self._of_thread, "ctx", None), self.app.request(id)
        assert found.requested is not None, "it was given one"
        self._of_thread.ctx = found
        try:
            yield found.requested
        finally:
            self._of_thread.ctx = former

    def close(self) -> None:
        """Let go of the store."""
        if self._app is not None:
            self._app.close()


def _without_engine(settings: Settings) -> AppContext:
    """What ``doctor`` looks at a store with: it starts nothing."""
    from phaseline.app.app_context import AppContext

    return AppContext(settings, "phaseline doctor")
