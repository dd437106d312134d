"""The entry of a call recognizes what its earlier attempts have made (BB2, CO11)."""

from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.rows import Actor
from phaseline.ports.estate import CallEntry

ENTRY = CallEntry(7, 3, 12, 1, Actor("ann"))


def test_bb2_the_cause_has_graph_position_and_generation() -> None:
    assert ENTRY.cause == CauseKey("component", 7, "3/12/1")


def test_co11_what_an_earlier_generation_has_made_is_its_own_and_nothing_else() -> None:
    assert ENTRY.has_made(CauseKey("component", 7, "3/12/0"))
    for number, key in ((8, "3/12/0"), (7, "3/1/0"), (7, "4/12/0"), (7, "3/2/1")):
        assert not ENTRY.has_made(CauseKey("component", number, key))
