"""Deployment groups as text (GR1)."""

from __future__ import annotations

from phaseline.cli.render.estates import NO_GROUPS, deleted_text, group_list, group_text
from phaseline.use_cases.queries.estate.groups import GroupView

VIEW = GroupView(
    "shops", "all", 21, "/x/shop.yaml", {"port": 80}, ("env=prod",), 0, "ann",
    [f"shop-{at}" for at in range(21)], {"good": 20, "not_installed": 1},
)  # fmt: skip


def test_gr1_a_list_without_groups_says_how_one_is_made() -> None:
    assert group_list([]) == NO_GROUPS
    assert "shops" in group_list([VIEW])


def test_gr1_a_group_names_some_members_and_counts_all() -> None:
    told = group_text(VIEW)
    assert "21 (20 good, 1 not_installed)" in told
    assert "shop-19 and 1 more" in told
    assert "shop-20" not in told


def test_gr11_a_deleted_group_is_told() -> None:
    assert deleted_text(VIEW) == "The deployment group 'shops' with 21 members is deleted."
