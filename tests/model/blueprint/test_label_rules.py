"""What a label may be (LB1)."""

from __future__ import annotations

import pytest

from phaseline.model.blueprint.label_rules import InvalidLabelError, is_within, valid_key, valid_label, valid_value
from phaseline.model.blueprint.labels import Label


def test_a69_a_key_is_kept_in_small_letters() -> None:
    assert valid_label("Key", "Value") == Label("key", "Value")


@pytest.mark.parametrize("key", ["csys-foo", "csys-consumer-id", "CSYS-X", "a b", "a:b", "", "ä", "x" * 257])
def test_lb1_a_key_that_is_reserved_or_malformed_is_refused(key: str) -> None:
    with pytest.raises(InvalidLabelError):
        valid_key(key)


def test_lb1_a_computed_key_can_be_asked_for() -> None:
    assert valid_key("csys-consumer-id", to_set=False) == "csys-consumer-id"
    assert valid_key("x" * 256) == "x" * 256


@pytest.mark.parametrize("value", ["", "a\x00b", "line\nbreak", 'say "x"', "x" * 257, "\ud800"])
def test_lb1_a_value_that_is_empty_too_long_or_unprintable_is_refused(value: str) -> None:
    with pytest.raises(InvalidLabelError):
        valid_value(value)


def test_lb1_values_are_kept_in_normal_form() -> None:
    assert valid_value("\N{LATIN SMALL LIGATURE FI}ne\u00a0\N{CIRCLED DIGIT ONE}") == "fine 1"


@pytest.mark.parametrize(
    ("key", "good", "bad"), [("csys-location-lat", "-90", "91"), ("csys-location-long", "180", "x")]
)
def test_lb1_places_are_in_range(key: str, good: str, bad: str) -> None:
    assert valid_value(good, key) == good
    with pytest.raises(InvalidLabelError, match=key):
        valid_value(bad, key)
    assert not is_within("inf", 1e9)
