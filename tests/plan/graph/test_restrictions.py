"""Refusing what is forbidden of instances."""

import numpy as np
import pytest

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.graph.restrictions import as_mask, refuse
from phaseline.testing.builders import blueprint, node, topology

WEB = altered(topology(blueprint(node("web", instances=7))), restricted={"web": ("delete",)})


def test_some_of_many_instances_are_named_and_all_are_counted() -> None:
    with pytest.raises(ProblemsError) as refused:
        refuse(WEB, "delete", np.ones(7, bool))
    (problem,) = refused.value.problems
    assert problem.code == "PL-P049"
    assert problem.message == "'web' must not be taken away, and web_1, web_2, web_3, web_4, web_5 and 2 more would be"


def test_what_is_not_forbidden_is_not_refused() -> None:
    refuse(WEB, "update", np.ones(7, bool))
    refuse(WEB, "delete", np.zeros(7, bool))


def test_numbers_of_those_that_come_are_left_out() -> None:
    assert as_mask(WEB, [1, 7, 8]).nonzero()[0].tolist() == [1]
