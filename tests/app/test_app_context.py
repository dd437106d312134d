"""What a process keeps between two commands: made once, whoever asks first, and anew when it was forgotten."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

from phaseline.app.app_context import Workplace
from phaseline.app.settings import load_settings
from phaseline.embedded.workplace import workplace


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    settings = load_settings(config=os.devnull, given={"store.url": "memory:"}, environment={"HOME": str(tmp_path)})
    with workplace(settings, "test") as made:
        yield made


def test_what_two_threads_ask_for_first_is_made_once(place: Workplace) -> None:
    made: list[object] = []
    got: list[object] = []
    both = Barrier(2)

    def build() -> object:
        made.append(object())
        return made[-1]

    def ask() -> None:
        both.wait()
        got.append(place.cache("thing", build))

    threads = [Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [made[0], made[0]]


def test_what_is_made_may_need_other_things_that_are_kept(place: Workplace) -> None:
    assert place.cache("outer", lambda: place.cache("inner", lambda: 1) + 1) == 2
    assert place.cache("inner", lambda: 9) == 1


def test_what_is_forgotten_is_made_anew_and_what_failed_is_tried_again(place: Workplace) -> None:
    assert place.cache("thing", lambda: 1) == place.cache("thing", lambda: 2) == 1
    place.forget("thing")
    assert place.cache("thing", lambda: 2) == 2
    place.forget("what nobody has made")
    with pytest.raises(ZeroDivisionError):
        place.cache("other", lambda: 1 // 0)
    assert place.cache("other", lambda: 3) == 3
