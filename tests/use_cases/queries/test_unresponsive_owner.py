"""An owner that lives and answers nobody is told wherever somebody looks or waits, with what mends it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.builders import installed

from phaseline.app.app_context import AppContext, RequestContext, SystemClock
from phaseline.app.settings import Settings
from phaseline.app.watcher import NullWatcher
from phaseline.embedded.open_app import open_context
from phaseline.embedded.watch_execution import Ending, wait
from phaseline.model.rows.rows import Actor, Owner, RequestKind
from phaseline.use_cases.commands.submission import Submission, SubmissionAnswer
from phaseline.use_cases.queries.status import status
from phaseline.use_cases.queries.unresponsive_owner import SILENT_MS, Silence, silence
from phaseline.use_cases.tools.doctor import examine, is_sound


class Forward(SystemClock):
    """Goes as the machine's, and forward when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


class Hearing(NullWatcher):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def noticed(self, text: str) -> None:
        self.heard.append(text)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[RequestContext]:
    """A process that owns the store and does nothing for anybody."""
    with (
        open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "the owner") as found,
        found.app.store.own("the owner"),
    ):
        yield found


@pytest.fixture
def asker(owner: RequestContext) -> Iterator[RequestContext]:
    with open_context(owner.settings, "another") as found:
        found.app.clock = Forward()
        yield found


def ask(ctx: RequestContext) -> None:
    ctx.store.ask(RequestKind.PAUSE, 0, {}, Actor("me"))


def forward(ctx: RequestContext, by_ms: int) -> None:
    assert isinstance(ctx.clock, Forward)
    ctx.clock.ahead += by_ms


def test_an_owner_that_nobody_asked_for_anything_is_not_silent(asker: RequestContext) -> None:
    forward(asker, 10 * SILENT_MS)
    assert silence(asker.store, asker.clock.now()) is None


def test_who_was_asked_a_long_time_ago_and_lives_is_told_by_status_and_doctor(asker: RequestContext) -> None:
    ask(asker)
    forward(asker, 3 * SILENT_MS)
    (need,) = status(asker).needs
    assert need.text.startswith("Process ")
    assert "(the owner, since" in need.text
    assert "lives, but has not answered a request for 3" in need.text
    assert "kill -9 " in need.mend

    class Ahead(AppContext):
        clock = asker.clock

    found = examine(lambda: asker.settings, lambda settings: Ahead(settings, "the doctor"))
    (engine,) = [check for check in found if check.name == "engine"]
    assert (engine.level, is_sound(found)) == ("fail", False)
    assert "kill -9 " in engine.mend


def test_what_was_asked_before_the_owner_came_counts_from_its_coming(tmp_path: Path) -> None:
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "another") as ctx:
        ctx.app.clock = Forward()
        ask(ctx)
        forward(ctx, 3 * SILENT_MS)
        assert silence(ctx.store, ctx.clock.now()) is None, "there is no owner"
        with ctx.app.store.own("a new one"):
            assert silence(ctx.store, ctx.clock.now()) is None
            forward(ctx, SILENT_MS)
            found = silence(ctx.store, ctx.clock.now())
            assert found is not None
            assert found.span_ms < 3 * SILENT_MS


def test_whoever_waits_is_told_once_and_waits_on(asker: RequestContext) -> None:
    _, number = installed(asker.store, "shop")
    row = next(row for row in asker.store.executions() if row.number == number)
    request = asker.store.ask(RequestKind.CANCEL, number, {"id": row.id}, Actor("me"))
    hearing = Hearing()

    def leaves() -> bool:
        forward(asker, SILENT_MS // 4)
        assert isinstance(asker.clock, Forward)
        return asker.clock.ahead > 4 * SILENT_MS

    assert (
        wait(asker, SubmissionAnswer(Submission(row, request)), hearing, leaves=leaves, own=lambda: None) is Ending.LEFT
    )
    (told,) = hearing.heard
    assert "has not answered a request for 1" in told
    assert "kill -9 " in told


def test_an_owner_on_another_machine_is_looked_for_there() -> None:
    here, there = (Silence(Owner(4711, "engine", 0, host=host), 0, SILENT_MS) for host in ("", "db-2"))
    assert here.mend.startswith("look at the process: ps -fp 4711")
    assert there.mend.startswith("look at the process on db-2: ps -fp 4711")
    assert "Process 4711 on db-2 (engine, since" in there.text
