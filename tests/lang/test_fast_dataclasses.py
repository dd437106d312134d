"""``@frozen`` gives what a frozen dataclass with slots gives, before and after its ``__init__`` is compiled."""

import copy
import pickle
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import pytest

from phaseline.lang.fast_dataclasses import UNTIL_COMPILED, altered, frozen, mutable


@frozen
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    hidden: str = field(default="", compare=False, repr=False)


@frozen
class Compiled:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    hidden: str = field(default="", compare=False, repr=False)


AT_FIRST = vars(Compiled)["__init__"]


@dataclass(frozen=True, slots=True)
class Dataclass:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    hidden: str = field(default="", compare=False, repr=False)


@frozen
class Longer(Point):
    z: int = 0
    y: int = 9


@frozen
class Summed:
    x: int
    y: int = 1

    @cached_property
    def both(self) -> list[int]:
        return [self.x + self.y]


@frozen
class Alone:
    numbers: object


@frozen
class Empty:
    pass


@frozen
class Named:
    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


@pytest.fixture(params=[Point, Compiled, Dataclass], ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> Any:
    if request.param is Compiled:
        for number in range(UNTIL_COMPILED):
            Compiled(number)
        assert vars(Compiled)["__init__"] is not AT_FIRST
    return request.param


def test_arguments_are_given_by_place_by_name_or_not_at_all(kind: Any) -> None:
    one = kind(1, tags=["a"])
    assert (one.x, one.y, one.tags, one.hidden) == (1, 0, ["a"], "")
    assert kind(1).tags is not kind(1).tags


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), ((1, 2, [], "", 5), {}), ((1,), {"x": 2}), ((1,), {"z": 2})],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_wrong_arguments_are_a_type_error_as_ever(kind: Any, given: tuple[object, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"__init__\(\)"):
        kind(*given, **named)


def test_objects_are_equal_and_alike_in_a_set_when_their_values_are(kind: Any) -> None:
    assert kind(1, 2, ()) == kind(1, 2, (), "unlike")
    assert kind(1, 2, ()) != kind(1, 3, ())
    assert kind(1) != (1, 0, [], "")
    assert len({kind(1, 2, ()), kind(1, 2, (), "unlike")}) == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(kind(1))


def test_nothing_can_be_changed_or_added(kind: Any) -> None:
    one = kind(1)
    with pytest.raises(FrozenInstanceError):
        one.x = 2
    with pytest.raises(FrozenInstanceError):
        del one.x
    assert not hasattr(one, "__dict__")


def test_a_name_that_is_no_field_is_refused_too() -> None:
    with pytest.raises(FrozenInstanceError):
        Point(1).another = 2  # type: ignore[attr-defined]  # which is the point


def test_the_standard_library_takes_it_for_a_dataclass(kind: Any) -> None:
    one = kind(1, 2, ["a"])
    assert is_dataclass(one)
    assert [column.name for column in fields(one)] == ["x", "y", "tags", "hidden"]
    assert asdict(one) == {"x": 1, "y": 2, "tags": ["a"], "hidden": ""}
    assert replace(one, y=3) == kind(1, 3, ["a"])
    match one:
        case kind(x, y):
            assert (x, y) == (1, 2)


def test_copies_are_equal_here_and_in_another_process(kind: Any) -> None:
    one = kind(1, 2, ["a"], "b")
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
        assert other.hidden == "b"


def test_it_is_shown_as_it_would_be_written(kind: Any) -> None:
    assert repr(kind(1, hidden="b")) == f"{kind.__name__}(x=1, y=0, tags=[])"


def test_one_field_or_none() -> None:
    same = object()
    assert Alone(same) == Alone(same)
    assert Alone([1]) != Alone([2])
    assert Empty() == Empty()
    assert (repr(Empty()), len({Empty(), Empty()})) == ("Empty()", 1)


def test_a_class_may_add_to_another() -> None:
    one = Longer(1, z=3)
    assert repr(one) == "Longer(x=1, y=9, tags=[], z=3)"
    assert one != Point(1, 9)
    assert replace(one, x=2) == Longer(2, z=3)
    assert [column.name for column in fields(Longer)] == ["x", "y", "tags", "hidden", "z"]
    assert Longer.__slots__ == ("z",)  # type: ignore[attr-defined]  # the type checker takes it for a dataclass


def test_a_class_that_is_not_frozen_is_nothing_to_add_to() -> None:
    class Late(Dataclass):
        z: int = 0

    with pytest.raises(AssertionError, match="inherits from what is not frozen like it"):
        frozen(Late)


def test_what_a_class_says_itself_stands() -> None:
    assert repr(Named("a")) == "<a>"


@mutable
class Counter:
    name: str
    count: int = 0
    seen: list[str] = field(default_factory=list)


def test_what_is_changeable_is_equal_to_itself_alone() -> None:
    for _ in range(UNTIL_COMPILED + 1):
        one, other = Counter("a"), Counter("a")
        one.count += 1
        one.seen.append("b")
        assert repr(one) == "Counter(name='a', count=1, seen=['b'])"
        assert (one == one, one == other, len({one, other})) == (True, False, 2)  # noqa: PLR0124 - which is the point
        assert replace(one, name="c").count == 1
        assert not hasattr(one, "__dict__")


def test_fields_that_only_a_dataclass_can_have_are_refused() -> None:
    class Late:
        x: int = field(init=False)

    with pytest.raises(AssertionError, match="a case for @dataclass"):
        frozen(Late)


def test_threads_that_make_the_object_that_is_compiled_for_make_it_all_the_same() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):

            @frozen
            class Shared:
                x: int
                y: int = 0

            start = threading.Barrier(4)

            def make(kind: type[Shared] = Shared, begun: threading.Barrier = start) -> list[Shared]:
                begun.wait(10)
                return [kind(number) for number in range(UNTIL_COMPILED)]

            with ThreadPoolExecutor(4) as pool:
                made = [future.result() for future in [pool.submit(make) for _ in range(4)]]
            assert made == [[Shared(number) for number in range(UNTIL_COMPILED)]] * 4
    finally:
        sys.setswitchinterval(before)


def test_what_a_cached_property_has_found_is_kept() -> None:
    for number in range(2 * UNTIL_COMPILED):
        one = Summed(number)
        assert one.both is one.both
        assert one.both == [number + 1]
        assert weakref.ref(one)() is one
        assert one == Summed(number)
        assert replace(one, y=2).both == [number + 2]
        assert pickle.loads(pickle.dumps(one)).both == one.both
        with pytest.raises(FrozenInstanceError):
            one.both = []


def test_altered_takes_an_ordinary_dataclass_too_and_refuses_a_field_that_there_is_not() -> None:
    assert altered(Dataclass(1), y=3) == Dataclass(1, 3)
    with pytest.raises(TypeError, match="Point has no field 'z'"):
        altered(Point(1), z=3)
