"""A function is killed at each of its lines and called again."""

from phaseline import operation
from phaseline.testing import crash_points, fake_batch

made: dict[str, str] = {}
doubles: list[str] = []


def cloud(name: str, token: str = "") -> None:
    """Make a machine; a token that was seen before makes nothing."""
    if token and token in made.values():
        return
    if name in made:
        doubles.append(name)
    made[name] = token


def empty() -> None:
    made.clear()
    doubles.clear()


@operation(bulk=True, repeatable=True)
def careful(batch):
    for item in batch:
        cloud(item.instance_id, item.token)
        item.runtime_properties["made"] = True


@operation(bulk=True, repeatable=True)
def careless(batch):
    for item in batch:
        cloud(item.instance_id)
        item.runtime_properties["made"] = True


def test_a_function_that_uses_tokens_makes_nothing_twice_wherever_it_dies() -> None:
    points = 0
    for point in crash_points(careful, lambda: fake_batch(2), before=empty):
        points += 1
        assert not doubles, point
        assert len(made) == 2
        assert [done.outcome for done in point.outcomes] == ["completed", "completed"]
    assert points > 2 * 3, "each line of the loop for each item, and the return"


def test_a_function_without_tokens_is_found_out() -> None:
    assert any(list(doubles) for _ in crash_points(careless, lambda: fake_batch(2), before=empty))


def test_each_point_says_before_which_line_the_function_died() -> None:
    first = careful.__code__.co_firstlineno
    lines = [point.line - first for point in crash_points(careful, lambda: fake_batch(1), before=empty)]
    assert [line for line in lines if line > 0] == [2, 3, 4, 2, 2]
    assert len(lines) > 5, "lines of other functions of the file are crash points, too"


def test_a_function_that_fails_by_itself_has_points_up_to_there() -> None:
    @operation
    def broken(item):
        item.log.info("begun")
        raise ValueError("odd")

    found = list(crash_points(broken, lambda: fake_batch(1)[0]))
    assert {point.outcomes[0].message for point in found} == {"odd"}
