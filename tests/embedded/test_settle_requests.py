"""Requests are answered though nobody owns the store."""

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.embedded.settle_requests import settle
from phaseline.model.rows.rows import RequestKind


def test_where_no_engine_runs_this_process_answers_and_lets_go_of_the_store() -> None:
    with open_context(Settings("memory:"), "a test") as ctx:
        requests = [ctx.store.ask(RequestKind.CANCEL, 0, {"id": "install-1"}, ctx.actor) for _ in range(2)]
        settle(ctx, requests)
        assert all(ctx.store.answer_of(number) is not None for number in requests)
        assert ctx.store.requests() == []
        assert ctx.store.owner() is None


def test_what_has_its_answers_takes_no_engine() -> None:
    with open_context(Settings("memory:"), "a test") as ctx, ctx.app.store.own("another thread"):
        settle(ctx, [])
