"""The cycles of a graph of names."""

from phaseline.lang.cycles import cycles, first_cycle


def test_a_cycle_is_found_however_deep() -> None:
    deep = {str(place): [str(place + 1)] for place in range(3_000)}
    assert first_cycle(deep) == []
    assert len(first_cycle(deep | {"3000": ["0"]})) == 3_001
    assert first_cycle({"a": ["a"]}) == ["a"]


def test_each_way_back_is_a_cycle_of_its_own() -> None:
    assert list(cycles({"a": ["b", "x"], "b": ["a"], "x": [], "c": ["d", None], "d": ["c", "b"]})) == [
        ["a", "b"],
        ["c", "d"],
    ]
