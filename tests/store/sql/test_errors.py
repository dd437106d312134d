"""Each template of a problem gives a problem with a known code."""

import pytest

from phaseline.model.problems.codes import CODES
from phaseline.store.sql import errors
from phaseline.store.sql.errors import Refusal


@pytest.mark.parametrize("name", [name for name, row in vars(errors).items() if isinstance(row, Refusal)])
def test_every_row_of_the_table_becomes_a_problem_with_a_known_code(name: str) -> None:
    (problem,) = getattr(errors, name)("the subject", "one", "two").problems
    assert problem.code in CODES
    assert problem.place.subject == "the subject"
    assert problem.mend
    assert "{" not in problem.message + problem.mend
