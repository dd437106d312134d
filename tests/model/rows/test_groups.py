"""Templates of the names of new members (GR2)."""

from phaseline.model.rows.groups import DEFAULT_TEMPLATE, is_distinct, name_from


def test_gr2_a_variable_without_a_value_stays() -> None:
    assert name_from("{site_name}-{count}-{other}", {"count": "3"}) == "{site_name}-3-{other}"


def test_gr2_a_value_is_not_read_as_a_template() -> None:
    assert name_from("{group_id}-{count}", {"group_id": "{count}", "count": "3"}) == "{count}-3"


def test_gr2_the_default_template_is_distinct() -> None:
    assert is_distinct(DEFAULT_TEMPLATE)
    assert not is_distinct("{group_id}-{blueprint_id}")
