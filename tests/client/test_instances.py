"""What the words about instances become."""

import pytest
from tests.client.recorder import Recorder

from phaseline import ProblemsError


def test_a_restriction_is_one_of_three() -> None:
    shop = Recorder()
    assert shop.instances.restrict("shop", ["db"], forbid=["delete"])[1]["actions"] == ["delete"]
    assert shop.instances.restrict("shop", ["db"], as_blueprint=True)[1]["actions"] is None
    assert shop.instances.restrict("shop", ["db"], lift=True)[1]["actions"] == ()
    with pytest.raises(ProblemsError, match="PL-C094"):
        shop.instances.restrict("shop", ["db"], lift=True, as_blueprint=True)


def test_options_that_are_not_given_are_not_passed() -> None:
    assert Recorder().instances.signal("db_1", data=3) == (
        "instances.signal",
        {"id": "db_1", "deployment": None, "data": 3, "operations": ()},
    )
