"""The ids of instances as they are stored."""

import pytest

from phaseline.store.codec.instance_ids import FEW, SEPARATOR, StoredIds, ids_from


def stored(ids: list[str]) -> bytes:
    return SEPARATOR.join(ids).encode()


MANY = [f"vm_{number}" for number in range(FEW + 1)]


def test_many_ids_are_those_that_were_stored_in_their_order() -> None:
    found = ids_from(stored(MANY))
    assert isinstance(found, StoredIds)
    assert len(found) == len(MANY)
    assert found[3] == "vm_3"
    assert found[-1] == MANY[-1]
    assert found[2:5] == MANY[2:5]
    assert list(found) == MANY
    assert "vm_7" in found
    assert "vm" not in found


def test_ids_of_two_stores_compare_as_lists_do() -> None:
    assert ids_from(stored(MANY)) == MANY == ids_from(stored(MANY))
    assert ids_from(stored(MANY)) == ids_from(stored(MANY))
    assert ids_from(stored(MANY)) != MANY[1:]
    assert ids_from(stored(MANY)) != tuple(MANY)


def test_few_or_none_are_a_list() -> None:
    assert ids_from(b"") == []
    assert ids_from(b"vm_1") == ["vm_1"]


def test_what_is_no_text_is_found_out_when_it_is_read_and_not_later() -> None:
    with pytest.raises(UnicodeDecodeError):
        ids_from(stored(MANY) + b"\xff")
    assert ids_from(stored([*MANY, "größer"]))[-1] == "größer"
