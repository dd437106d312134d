"""Labels as users write them."""

import pytest

from phaseline.model.blueprint.label_rules import LONGEST
from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.lookup.label_syntax import by_key, parse_labels


def test_labels_are_keys_with_values_or_keys_alone() -> None:
    found = parse_labels(["env=prod", "env=test", "a.b-c_1=x=y", "owner"])
    assert found == [Label("env", "prod"), Label("env", "test"), Label("a.b-c_1", "x=y"), Label("owner", "")]
    assert by_key(found) == {"env": ["prod", "test"], "a.b-c_1": ["x=y"], "owner": [""]}


@pytest.mark.parametrize(
    "text",
    ["", "=x", "ä=x", "a b=x", "env=", "env=" + "x" * (LONGEST + 1), "x" * (LONGEST + 1) + "=1", "a=\x07", 'a="'],
)
def test_what_is_no_label_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_labels([text])
    assert [one.code for one in caught.value.problems] == ["PL-C068"]
    assert "write KEY=VALUE or KEY" in caught.value.problems[0].mend


def test_a_key_alone_is_no_label_that_can_be_given() -> None:
    with pytest.raises(ProblemsError):
        parse_labels(["owner"], may_be_key=False)


def test_lb1_all_labels_that_are_wrong_are_reported_together() -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_labels(["a b=x", "env=prod", "csys-location-lat=91"], may_be_key=False)
    assert [one.place.subject for one in caught.value.problems] == ["a b=x", "csys-location-lat=91"]


def test_a69_keys_are_kept_in_small_letters_and_reserved_ones_cannot_be_set() -> None:
    assert parse_labels(["Key=Value", "csys-obj-type=Environment"], may_be_key=False) == [
        Label("key", "Value"),
        Label("csys-obj-type", "environment"),
    ]
    for text in ("csys-foo=1", "CSYS-Consumer-Id=app"):
        with pytest.raises(ProblemsError, match="csys"):
            parse_labels([text], may_be_key=False)
    assert parse_labels(["csys-consumer-id=app"]) == [Label("csys-consumer-id", "app")]
