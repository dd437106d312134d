"""What functions of items make besides their outcomes reaches the report, whatever the outcome is (BB1)."""

import pytest

from phaseline.calls.batches.native_items import ItemBatch
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.follow_ups import FollowUp

MADE = FollowUp(awaits=(7,))


def uncalled(_place: int) -> object:
    raise AssertionError("no item is used")


def test_bb1_a_follow_up_goes_with_the_outcome_of_its_item() -> None:
    batch = ItemBatch(3, uncalled)
    batch.again(batch[1:2], 5, "waits")
    batch.follow(1, MADE)
    batch.follow(2, MADE)
    settled = batch.settle(None)
    assert [settled.outcome_at(place).follow_up for place in range(3)] == [None, MADE, MADE]
    assert [settled.outcome_at(place).kind for place in range(3)] == [
        OutcomeKind.COMPLETED,
        OutcomeKind.AGAIN,
        OutcomeKind.COMPLETED,
    ]
    assert (settled.outcome_at(1).message, settled.outcome_at(1).delay_ms) == ("waits", 5_000)


@pytest.mark.parametrize("raised", [None, ValueError("no")])
def test_bb1_a_batch_of_one_item_keeps_its_follow_up(raised: Exception | None) -> None:
    batch = ItemBatch(1, uncalled)
    batch.follow(0, MADE)
    outcome = batch.settle_only(raised)
    assert outcome.follow_up == MADE
    assert outcome.kind is (OutcomeKind.COMPLETED if raised is None else OutcomeKind.RETRY)


def test_bb1_what_comes_after_the_end_of_the_call_is_left_out() -> None:
    batch = ItemBatch(1, uncalled)
    settled = batch.settle(None)
    batch.follow(0, MADE)
    assert settled.outcome_at(0).follow_up is None
