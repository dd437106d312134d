"""Requests are answered though nobody owns the store."""

from phaseline.app.settings import Settings
from phaseline.embedded.settle_requests import settle
from phaseline.embedded.workplace import workplace
from phaseline.model.rows.rows import RequestKind


def test_where_no_engine_runs_this_process_answers_and_lets_go_of_the_store() -> None:
    with workplace(Settings("memory:"), "a test") as place:
        requests = [place.store.ask(RequestKind.CANCEL, 0, {"id": "install-1"}, place.actor) for _ in range(2)]
        settle(place, requests)
        assert all(place.store.answer_of(number) is not None for number in requests)
        assert place.store.requests() == []
        assert place.store.owner() is None


def test_what_has_its_answers_takes_no_engine() -> None:
    with workplace(Settings("memory:"), "a test") as place, place.store.own("another thread"):
        settle(place, [])
