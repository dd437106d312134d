"""The client of a store that this process opens itself; ``phaseline.open()`` and all commands use it."""

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
    from phaseline.use_cases.commands.submission import RunSubmission, Submission, SubmissionFor, Submissions

    T = TypeVar("T")


class LocalClient(Client):
    """A client that carries out operations in this process and waits for executions.

    The module of an operation is imported when the operation is called for the first time.
    """

    def __init__(
        self,
        app: AppContext | None,
        *,
        load: Callable[[], Settings] | None = None,
        keeps_to_store: bool = False,
        checks_arguments: bool = False,
    ) -> None:
        """Create a client. ``app`` is closed with the client; None: only operations that need no store can be called.

        ``load``: reads the settings, for ``doctor``. ``keeps_to_store``: create a store only for operations that the
        table marks as ``made``, and return empty lists where no store exists. ``checks_arguments``: check arguments, as
        for programs; the command line has checked them already.
        """
        self._app = app
        self._of_thread = threading.local()
        self._load = load
        self._keeps_to_store = keeps_to_store
        self.checks_arguments = checks_arguments

    @property
    def app(self) -> AppContext:
        """The context of this process, in which use cases run."""
        assert self._app is not None, "this client was made without a store"
        return self._app

    @property
    def ctx(self) -> RequestContext:
        """The request context of this thread's present call, with its request id if one is set."""
        found: RequestContext | None = getattr(self._of_thread, "ctx", None)
        return self.app.request() if found is None else found

    def _call(
        self, op: ClientOperation[T], /, *, watcher: Watcher | None = None, detach: bool = False, **arguments: object
    ) -> T:
        """Import the use case of the operation, call it, and return its answer."""
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
        self,
        answer: T | Submission | SubmissionFor[T] | Submissions[T] | RunSubmission[T],
        watcher: Watcher | None,
        *,
        detach: bool,
    ) -> T:
        """Return the answer of a command; if the command submitted work, follow the work first."""
        from phaseline.use_cases.commands.submission import RunSubmission, Submission, SubmissionFor, Submissions

        if not isinstance(answer, (Submission, SubmissionFor, Submissions, RunSubmission)):
            return answer
        from phaseline.embedded.follow import follow

        return cast("T", follow(self.ctx, answer, watcher, detach=detach))

    def _settings(self) -> Settings:
        return self.app.settings if self._load is None else self._load()

    @contextmanager
    def request_id(self, id: str) -> Iterator[RequestId]:
        """Open a context in which a request of this thread is carried out only once per ``id``.

        If the request is repeated in a context with the same id, it returns the first answer, and the value of the
        context has ``is_repeated`` True. Raises: PL-C094 for an invalid id; within the context PL-C097 for a different
        request with the same id.
        """
        former, found = getattr(self._of_thread, "ctx", None), self.app.request(id)
        assert found.requested is not None, "it was given one"
        self._of_thread.ctx = found
        try:
            yield found.requested
        finally:
            self._of_thread.ctx = former

    def close(self) -> None:
        """Close the store."""
        if self._app is not None:
            self._app.close()


def _without_engine(settings: Settings) -> AppContext:
    """Return the context in which ``doctor`` examines a store; it never starts an engine."""
    from phaseline.app.app_context import AppContext

    return AppContext(settings, "phaseline doctor")
