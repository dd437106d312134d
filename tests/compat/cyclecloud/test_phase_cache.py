"""Values of a phase's cache end with their time."""

from phaseline.compat.cyclecloud.phase_cache import MAX_VALUES, TTL_S, PhaseCache


class Seconds:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_p97_a_value_dies_with_its_time_to_live() -> None:
    clock = Seconds()
    cache = PhaseCache(clock)
    cache.set("short", 1, ttl_s=5)
    cache["long"] = 2
    clock.now += 4.9
    assert dict(cache) == {"short": 1, "long": 2}
    clock.now += 0.1
    assert "short" not in cache
    assert list(cache) == ["long"]
    clock.now += TTL_S
    assert not cache


def test_what_is_missing_is_made_once() -> None:
    cache = PhaseCache(Seconds())
    made: list[int] = []
    for _ in range(2):
        assert cache.get_or_make("key", lambda: made.append(1) or 7) == 7
    assert made == [1]


def test_it_is_bounded_and_the_oldest_go() -> None:
    cache = PhaseCache(Seconds())
    for number in range(MAX_VALUES + 1):
        cache[number] = number
    assert len(cache) == MAX_VALUES
    assert 0 not in cache
    del cache[1]
    assert 1 not in cache
