"""Commands leave what they have stored to the conductor of their workplace."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.store.builders import installed

from phaseline.app.app_context import AppContext, RequestContext
from phaseline.app.settings import Settings
from phaseline.app.watcher import Watcher
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.control import cancel
from phaseline.use_cases.commands.resources.requests import engine_now, settle
from phaseline.use_cases.lookup.ticket import Conductor, Ticket
from phaseline.use_cases.queries.executions import view_execution
from phaseline.views.views import ExecutionView


class Notebook:
    """Runs nothing, and remembers what it was given."""

    def __init__(self) -> None:
        self.conducted: list[tuple[Ticket, bool]] = []
        self.settled: list[int] = []

    def conduct(
        self, ctx: RequestContext, ticket: Ticket, watcher: Watcher | None = None, *, detach: bool = False
    ) -> ExecutionView:
        self.conducted.append((ticket, detach))
        return view_execution(ctx.store, ticket.row)

    def settle(self, _place: RequestContext, requests: Sequence[int]) -> None:
        self.settled.extend(requests)


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def ctx(tmp_path: Path, notebook: Notebook) -> Iterator[RequestContext]:
    conductor = Conductor(notebook.conduct, notebook.settle)
    app = AppContext(Settings(f"sqlite:///{tmp_path}/store.db"), "a test", ports=lambda: (conductor,))
    yield app.request()
    app.close()


def test_a_command_stores_its_request_and_gives_the_ticket_to_the_conductor(
    ctx: RequestContext, notebook: Notebook
) -> None:
    _, number = installed(ctx.store)
    view = cancel(ctx, deployment="shop")
    ((ticket, detach),) = notebook.conducted
    assert (ticket.row.number, ticket.row.id, detach) == (number, view.id, False)
    asked = {request.number: request.kind for request in ctx.store.requests()}
    assert asked[ticket.request] is RequestKind.CANCEL
    assert ctx.store.owner() is None, "the command itself runs no engine"


def test_answers_about_resources_are_awaited_by_the_conductor(ctx: RequestContext, notebook: Notebook) -> None:
    request = ctx.store.ask(RequestKind.PAUSE, 0, {}, ctx.actor)
    assert settle(ctx, [request]) == engine_now(ctx)
    assert notebook.settled == [request]


def test_a_workplace_that_was_given_no_conductor_says_so(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="without a Conductor"):
        AppContext(Settings(f"sqlite:///{tmp_path}/store.db"), "a test").port(Conductor)
