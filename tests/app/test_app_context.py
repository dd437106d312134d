"""What a process keeps between two commands: made once, whoever asks first, and anew when it was forgotten."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import load_settings
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import ProblemsError


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    settings = load_settings(config=os.devnull, given={"store.url": "memory:"}, environment={"HOME": str(tmp_path)})
    with open_context(settings, "test") as made:
        yield made


def test_what_two_threads_ask_for_first_is_made_once(ctx: RequestContext) -> None:
    made: list[object] = []
    got: list[object] = []
    both = Barrier(2)

    def build() -> object:
        made.append(object())
        return made[-1]

    def ask() -> None:
        both.wait()
        got.append(ctx.app.cache("thing", build))

    threads = [Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [made[0], made[0]]


def test_what_is_made_may_need_other_things_that_are_kept(ctx: RequestContext) -> None:
    assert ctx.app.cache("outer", lambda: ctx.app.cache("inner", lambda: 1) + 1) == 2
    assert ctx.app.cache("inner", lambda: 9) == 1


def test_what_is_forgotten_is_made_anew_and_what_failed_is_tried_again(ctx: RequestContext) -> None:
    assert ctx.app.cache("thing", lambda: 1) == ctx.app.cache("thing", lambda: 2) == 1
    ctx.app.forget("thing")
    assert ctx.app.cache("thing", lambda: 2) == 2
    ctx.app.forget("what nobody has made")
    with pytest.raises(ZeroDivisionError):
        ctx.app.cache("other", lambda: 1 // 0)
    assert ctx.app.cache("other", lambda: 3) == 3


def test_a_value_is_made_anew_when_its_version_has_moved(ctx: RequestContext) -> None:
    version = [1]
    made = iter("abc")
    assert [ctx.app.cache("thing", lambda: next(made), lambda: version[0]) for _ in range(2)] == ["a", "a"]
    version[0] = 2
    assert [ctx.app.cache("thing", lambda: next(made), lambda: version[0]) for _ in range(2)] == ["b", "b"]


def test_a_request_has_the_user_the_notices_and_the_request_id_of_whoever_makes_it(ctx: RequestContext) -> None:
    told: list[str] = []
    ctx.app.notice = told.append
    made = ctx.app.request("r-1")
    made.notice("one")
    assert (told, made.actor, made.store is ctx.app.store.of(ctx.app.user.tenant)) == (["one"], ctx.app.user, True)
    assert [one.requested and one.requested.id for one in (made, ctx)] == ["r-1", None]
    with pytest.raises(ProblemsError, match="PL-C094"):
        ctx.app.request("")
