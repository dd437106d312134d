"""``lang.fast_namedtuples.NamedTuple`` gives what ``typing.NamedTuple`` gives, before and after its ``__new__`` is compiled."""

import copy
import pickle
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from phaseline.lang import fast_namedtuples as tuples


class Ours(tuples.NamedTuple):
    """A place."""

    x: int
    y: int = 0
    name: str = "here"

    @property
    def far(self) -> int:
        return self.x + self.y

    def moved(self, by: int) -> "Ours":
        return self._replace(x=self.x + by)


class Theirs(typing.NamedTuple):
    """A place."""

    x: int
    y: int = 0
    name: str = "here"


class Empty(tuples.NamedTuple):
    pass


AT_FIRST = vars(Ours)["__new__"]
MANY = (
    lambda kind: kind(1),
    lambda kind: kind(1, 2, "there"),
    lambda kind: kind(1, name="there"),
    lambda kind: kind(y=2, x=1),
    lambda kind: kind._make([1, 2, "there"]),
    lambda kind: kind(1)._replace(y=3),
)
WRONG = (
    lambda kind: kind(),
    lambda kind: kind(1, 2, "there", 4),
    lambda kind: kind(1, x=1),
    lambda kind: kind(1, z=1),
    lambda kind: kind(y=1),
)


@pytest.fixture(params=["at first", "compiled"])
def ours(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "compiled":
        for _ in range(tuples.UNTIL_COMPILED + 1):
            Ours(1)
        assert vars(Ours)["__new__"] is not AT_FIRST
    else:  # anew: how many objects are left until it is compiled is counted over all tests
        Ours.__new__ = tuples._quick(Ours._fields, Ours._field_defaults)  # type: ignore[method-assign]  # as declared
    yield Ours
    Ours.__new__ = AT_FIRST  # type: ignore[method-assign]  # as it was declared


@pytest.mark.parametrize("make", MANY)
def test_objects_are_what_those_of_typing_are(ours: Any, make: Callable[[Any], Any]) -> None:
    one, other = make(ours), make(Theirs)
    assert one == other == tuple(one)
    assert hash(one) == hash(other)
    assert type(one) is Ours
    assert repr(one) == repr(other).replace("Theirs", "Ours")
    assert (one.x, one.y, one.name) == tuple(one)
    assert one._asdict() == other._asdict()


@pytest.mark.parametrize("make", WRONG)
def test_wrong_arguments_are_refused_in_the_same_words(ours: Any, make: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError) as theirs:
        make(Theirs)
    with pytest.raises(TypeError) as refused:
        make(ours)
    assert str(refused.value).rpartition("__new__")[2] == str(theirs.value).rpartition("__new__")[2]


def test_the_class_tells_the_same(ours: Any) -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(ours, name) == getattr(Theirs, name), name
    assert typing.get_type_hints(ours) == typing.get_type_hints(Theirs)
    assert issubclass(ours, tuple)


def test_objects_can_be_copied_sent_and_matched(ours: Any) -> None:
    one = ours(1, 2, "there")
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert type(pickle.loads(pickle.dumps(one))) is Ours
    match one:
        case Ours(x, y):
            assert (x, y) == (1, 2)


def test_fields_cannot_be_changed_and_none_can_be_added(ours: Any) -> None:
    one = ours(1)
    with pytest.raises(AttributeError):
        one.x = 2
    with pytest.raises(AttributeError):
        one.z = 2


def test_methods_and_properties_are_kept(ours: Any) -> None:
    assert (ours(1, 2).far, ours(1, 2).moved(4)) == (3, (5, 2, "here"))
    assert Empty() == ()
