"""Statuses: one word for one thing, the ancestors' words only at their surfaces."""

from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.plan.explain.cloudify_sentences import SENTENCES


def test_one_spelling_of_canceled_for_entries_executions_and_facts() -> None:
    words = [status.word for status in EntryStatus] + [status.value for status in ExecutionStatus]
    assert {word for word in words if "cancel" in word} == {"canceled", "canceling"}
    assert "terminated" not in words


def test_one_spelling_gives_way_to_the_ancestors_only_in_its_sentences() -> None:
    assert SENTENCES["workflow_cancelled"] == "'{workflow}' workflow execution cancelled"


def test_ended_executions_are_those_that_only_a_user_can_move() -> None:
    assert [status.value for status in ExecutionStatus if status.is_ended] == ["completed", "failed", "canceled"]


def test_stored_numbers_of_statuses_and_outcomes_stay() -> None:
    assert [int(status) for status in EntryStatus] == list(range(11))
    assert [int(kind) for kind in OutcomeKind] == list(range(7))
