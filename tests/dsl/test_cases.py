"""Broken blueprints and what is said about them: case files in, text out."""

import json
from pathlib import Path

import pytest

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.problems.text import render_problem

CASES = sorted(Path(__file__).parents[1].joinpath("cases", "blueprints").iterdir())


def read_and_evaluate() -> None:
    """Everything that may find fault with the blueprint of this folder and its ``inputs.json``, if it has one."""
    given = Path("inputs.json")
    files = BlueprintFiles("blueprint.yaml")
    blueprint = read_blueprint("blueprint.yaml", files)
    inputs = complete_inputs(blueprint, json.loads(given.read_text()) if given.exists() else {})
    with_inputs(blueprint, inputs, files)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_blueprint_is_explained(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)
    with pytest.raises(ProblemsError) as caught:
        read_and_evaluate()
    shown = "\n\n".join(render_problem(problem) for problem in caught.value.problems) + "\n"
    assert shown == Path("expected.txt").read_text("utf-8")


def test_there_are_at_least_twenty_of_them() -> None:
    assert len(CASES) >= 20
