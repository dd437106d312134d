"""Problems for programs: every field of the text form is there, and what a problem says of itself stands beside them."""

import json

from phaseline.model.problems.codes import CODES, problem_object
from phaseline.model.problems.problem import Place, Problem
from phaseline.views.json_codec import document


def test_a_problem_tells_its_place_its_title_and_its_details() -> None:
    place = Place("web.yaml", 3, 5, "node_templates.web.typ")
    made = problem_object(Problem("PL-B014", "not a key", "Did you mean 'type'?", place, details={"near": "type"}))
    assert (made["code"], made["title"]) == ("PL-B014", CODES["PL-B014"])
    assert (made["file"], made["line"], made["column"], made["path"]) == ("web.yaml", 3, 5, "node_templates.web.typ")
    assert (made["mend"], made["severity"], made["near"]) == ("Did you mean 'type'?", "error", "type")


def test_a_problem_in_an_answer_is_written_as_it_is_alone() -> None:
    problem = Problem("PL-C010", "none", "Look.")
    assert json.loads(document({"warnings": [problem]})) == {"warnings": [problem_object(problem)]}
