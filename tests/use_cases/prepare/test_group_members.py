"""Names and places of new members (GR2); what is stored of them: tests/use_cases/commands/estate/test_groups.py."""

from __future__ import annotations

from phaseline.use_cases.prepare.group_members import MemberInputs, NewMembers, in_portions


def test_gr2_the_number_of_new_members_is_that_of_both_kinds() -> None:
    assert len(NewMembers(3, [MemberInputs(), MemberInputs()])) == 5


def test_gr2_members_are_stored_in_portions() -> None:
    assert [len(portion) for portion in in_portions(range(2_001), 1_000)] == [1_000, 1_000, 1]
    assert [*in_portions([], 1_000)] == []
