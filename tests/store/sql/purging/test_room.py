"""All work of a slice is counted in bytes."""

from phaseline.store.sql.purging.room import LOOKED_BYTES, SLICE_BYTES, Room


def test_a_slice_is_over_when_its_bytes_are_spent() -> None:
    room = Room(100)
    room.spend(99)
    assert room.is_left
    room.spend(1)
    assert not room.is_left


def test_rows_that_are_only_looked_at_count_too_and_at_least_one_may_be() -> None:
    room = Room()
    assert room.looks == SLICE_BYTES // LOOKED_BYTES
    room.look_at(room.looks)
    assert not room.is_left
    assert room.looks == 1


def test_a_slice_is_over_when_its_time_is_over() -> None:
    for longest_s in (60, 0):
        room = Room(longest_s=longest_s)
        assert room.is_left, "each slice does something"
        room.spend(1)
        assert room.is_left == bool(longest_s)
