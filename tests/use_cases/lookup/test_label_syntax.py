"""Labels as users write them."""

import pytest

from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.lookup.label_syntax import MAX_VALUE, by_key, parse_labels


def test_labels_are_keys_with_values_or_keys_alone() -> None:
    found = parse_labels(["env=prod", "env=test", "a.b-c_1=x=y", "owner"])
    assert found == [Label("env", "prod"), Label("env", "test"), Label("a.b-c_1", "x=y"), Label("owner", "")]
    assert by_key(found) == {"env": ["prod", "test"], "a.b-c_1": ["x=y"], "owner": [""]}


@pytest.mark.parametrize("text", ["", "=x", "1a=x", "a b=x", "env=", "env=" + "x" * (MAX_VALUE + 1)])
def test_what_is_no_label_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_labels([text])
    assert [one.code for one in caught.value.problems] == ["PL-C068"]
    assert "write KEY=VALUE or KEY" in caught.value.problems[0].mend


def test_a_key_alone_is_no_label_that_can_be_given() -> None:
    with pytest.raises(ProblemsError):
        parse_labels(["owner"], may_be_key=False)
